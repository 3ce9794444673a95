package bxml_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/starling-grid/starling/protocol/bxml"
)

func element(t *testing.T, content string) *bxml.Scanner {
	t.Helper()
	s := bxml.NewScanner([]byte("<x>" + content + "</x>"))
	if err := s.Find("x"); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		most          int
		want          string
	}{
		{"as it is", "Intel(R) Core", 254, "Intel(R) Core"},
		{"entities", "a &amp; b", 254, "a & b"},
		{"cut between characters", "ääää", 6, "ä…"},
		{"entities that are cut", strings.Repeat("&amp;", 100), 6, "&&&…"},
		{"lines", "a\r\nb\tc", 254, "a b c"},
		{"orders to a terminal", "a\x1b[2Jb\x00c\x7f\u0085", 254, "a[2Jbc"},
		{"the other direction", "ab\u202edc", 254, "abdc"},
		{"no UTF-8", "a\xffb", 254, "a?b"},
		{"CDATA", "<![CDATA[ <b> ]]>", 254, "<b>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := element(t, tt.content).Line(tt.most); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEnds(t *testing.T) {
	out := strings.Repeat("first line\n", 1000) + "a && b <core_client> last"
	for _, content := range []string{out, "<![CDATA[" + out + "]]>", " \n<![CDATA[\n" + out + "\n]]>\n"} {
		if got := element(t, content).Tail(20); got != "b <core_client> last" {
			t.Errorf("tail %q", got)
		}
		if got := element(t, content).Head(10); got != "first line" {
			t.Errorf("head %q", got)
		}
	}
	if got := element(t, "abc").RawUpTo(2); got != "" {
		t.Errorf("half of an element: %q", got)
	}
	if got := element(t, "abc").RawHead(2); got != "ab" {
		t.Errorf("got %q", got)
	}
}

func FuzzClip(f *testing.F) {
	f.Add("<![CDATA[x]]>&amp;\x1b\xff", 5)
	f.Fuzz(func(t *testing.T, content string, most int) {
		if strings.Contains(content, "</x>") || most < 0 || most > 1<<16 {
			return
		}
		line := element(t, content).Line(most)
		if len(line) > most || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("line of at most %d: %q", most, line)
		}
		text := element(t, content).Text()
		if head := element(t, content).Head(most); len(head) > most {
			t.Errorf("head of at most %d: %q of %q", most, head, text)
		}
		if tail := element(t, content).Tail(most); len(tail) > most {
			t.Errorf("tail of at most %d: %q of %q", most, tail, text)
		}
	})
}
