package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"short", 10, []string{"short"}},
		{"one two three four", 10, []string{"one two", "three four"}},
		{"  work          The project has no tasks now.", 30, []string{"  work          The project", "                has no tasks", "                now."}},
		{"  last contact  yesterday at 12:30", 28, []string{"  last contact  yesterday at", "                12:30"}},
		{"abcdefghijklm", 5, []string{"abcde", "fghij", "klm"}},
		{green + "one two" + reset, 4, []string{green + "one" + reset, green + "two" + reset}},
		{"äöü äöü", 4, []string{"äöü", "äöü"}},
		{"", 5, []string{""}},
	} {
		if got := fold(tt.text, tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("%q at %d: got %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestScroll(t *testing.T) {
	var lines []string
	for n := range 10 {
		lines = append(lines, fmt.Sprint(n))
	}
	top := 0
	press := func(typed string, height int) string {
		top = keyOf(typed).scroll(top, height)
		var page []string
		page, top = visible(lines, top, height)
		return strings.Join(page, " ")
	}
	for _, tt := range []struct {
		typed  string
		height int
		want   string
	}{
		{"", 10, "0 1 2 3 4 5 6 7 8 9"},
		{"", 5, "0 1 2 3 lines 1 to 4 of 10 ("},
		{"\x1b[B", 5, "1 2 3 4 lines 2"},
		{" ", 5, "4 5 6 7 lines 5"},
		{"\x1b[6~", 5, "6 7 8 9 lines 7"},
		{"j", 5, "6 7 8 9 lines 7"},
		{"\x1b[A", 5, "5 6 7 8 lines 6"},
		{"x", 5, "5 6 7 8 lines 6"},
		{"g", 5, "0 1 2 3 lines 1"},
		{"G", 5, "6 7 8 9 lines 7"},
		{"", 10, "0 1"},
		{"", 1, "0"},
		{"", 0, ""},
	} {
		if got := press(tt.typed, tt.height); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q in %d lines: got %q, want %q", tt.typed, tt.height, got, tt.want)
		}
	}
	if keyOf("\x03") != quit || keyOf("q") != quit {
		t.Error("Ctrl-C does not quit")
	}
}
