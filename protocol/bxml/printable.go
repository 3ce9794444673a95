package bxml

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a foreign text in a form that may be shown to people, on a terminal, in a log
// or on a page: as UTF-8 and without characters that control a terminal or change the direction of
// writing. A text longer than most bytes is cut to that length and ends with …. Line breaks and
// tabs stay.
func Printable(text string, most int) string {
	if !plain(text) { // rare
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

// plain reports whether a text consists only of ASCII's printable characters.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Limits on the texts that a Scanner of foreign texts returns, in bytes.
const (
	maxText = 64 << 10 // of Text and Attr, which are truncated
	maxRaw  = 1 << 20  // of Raw, where more is an error
)

// Foreign makes every later Text and Attr Printable, and limits their length and the length of Raw.
// It is for texts of strangers, which reach people, the log and the disk.
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
