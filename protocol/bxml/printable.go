package bxml

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text of somebody else's as people may be shown it, on a terminal,
// in a log or on a page: without what steers a terminal or turns the direction of
// writing, as UTF-8, and of at most so many bytes, the last of which are … if it
// was longer. Lines and tabs stay.
func Printable(text string, most int) string {
	if !plain(text) { // hardly ever
		text = strings.Map(func(c rune) rune {
			if c == '\n' || c == '\t' || !unicode.In(c, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
				return c
			}
			return -1
		}, strings.ToValidUTF8(text, "�"))
	}
	if len(text) <= most {
		return text
	}
	mark := "…"
	if most < len(mark) {
		mark = ""
	}
	cut := max(0, most-len(mark))
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}

// plain reports whether a text is of ASCII's letters, digits and signs alone.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Bounds on what a Scanner of foreign texts returns, in bytes.
const (
	maxText = 64 << 10 // of Text and Attr; more is cut
	maxRaw  = 1 << 20  // of Raw; more is an error
)

// Foreign makes every Text and Attr from here on Printable, and bounds their length
// and that of Raw: what a stranger writes reaches people, the log and the disk.
func (s *Scanner) Foreign() *Scanner {
	s.foreign = true
	return s
}

func (s *Scanner) shown(text string) string {
	if !s.foreign {
		return text
	}
	return Printable(text, maxText)
}
