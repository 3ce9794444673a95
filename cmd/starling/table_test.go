package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTableFits(t *testing.T) {
	tab := table{columns: []column{{name: "TASK", least: 8}, {name: "N"}, {name: "WHY", least: 6, end: true}}}
	tab.add(green, "a_very_long_name_of_a_task_17", "12345", "Waits for a CPU, as others do.")
	tab.add(plain, "short", "1", "Ünïcode\nand \x1b[31mtricks")
	for width, want := range map[int]string{
		0: "TASK                           N      WHY\na_very_long_name_of_a_task_17  12345  Waits for a CPU, as others do.\nshort                          1      Ünïcode and [31mtricks\n",
		// Names are cut in their middle, and sentences are folded below.
		30: "TASK             N      WHY\na_very_…task_17  12345\n    Waits for a CPU, as others\n    do.\nshort            1\n    Ünïcode and [31mtricks\n",
	} {
		var b strings.Builder
		tab.show(display{Writer: &b, width: width})
		if got := b.String(); got != want {
			t.Errorf("width %d: got\n%s\nwant\n%s", width, got, want)
		}
	}
	for width := 30; width < 80; width++ {
		var b strings.Builder
		tab.show(display{Writer: &b, width: width})
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("width %d: a line of %d: %q", width, n, line)
			}
		}
	}
	var b strings.Builder
	wide := table{columns: []column{{name: "TASK"}, {name: "APP", extra: true}, {name: "N"}, {name: "ELAPSED", extra: true}, {name: "WHY", least: 6, end: true}}}
	wide.add(plain, "a_task_of_a_name_0", "primes", "12345", "11 min 5 s", "Running.")
	wide.show(display{Writer: &b, width: 44})
	if got, want := b.String(), "TASK                APP     N      WHY\na_task_of_a_name_0  primes  12345  Running.\n"; got != want {
		t.Errorf("without what has no room: got\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	tab.show(display{Writer: &b, colour: true})
	if got := b.String(); !strings.HasPrefix(got, bold+"TASK") || strings.Count(got, green) != 1 || strings.Count(got, "\x1b[0m") != 2 {
		t.Errorf("in colours: %q", got)
	}
}

func TestBar(t *testing.T) {
	for fraction, want := range map[float64]string{
		0: "[>         ]   0 %", 0.46: "[====>     ]  46 %", 1: "[==========] 100 %", -1: "[>         ]   0 %", 2: "[==========] 100 %",
	} {
		if got := bar(fraction, 10); got != want {
			t.Errorf("%v: got %q, want %q", fraction, got, want)
		}
	}
}
