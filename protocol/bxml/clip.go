package bxml

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Peers may send texts of any length. The methods here bound what is kept of one, and
// what is allocated for that, so that a message never takes many times its length.

// longest is the length of the longest entity, so that much raw text makes one byte.
const longest = len("&quot;")

// Line returns Text as one line that is Printable: bytes that are no UTF-8 become
// '?', and blanks, line breaks and tabs in a row one blank. It has at most most
// bytes.
func (s *Scanner) Line(most int) string {
	text := strings.ToValidUTF8(s.Head(2*most+utf8.UTFMax), "?")
	return Printable(strings.Join(strings.Fields(text), " "), most)
}

// Head returns the first most bytes of Text.
func (s *Scanner) Head(most int) string {
	b := bytes.TrimSpace(s.raw())
	text := bytes.TrimSpace(unescape(b[:min(len(b), longest*most+len(cdataOpen))]))
	return s.shown(string(text[:min(len(text), most)]))
}

// Tail returns the last most bytes of Text.
func (s *Scanner) Tail(most int) string {
	b := bytes.TrimSpace(s.raw())
	switch in, ok := bytes.CutPrefix(b, cdataOpen); {
	case ok && bytes.HasSuffix(in, cdataClose) && bytes.Index(in, cdataClose) == len(in)-len(cdataClose):
		b = in[:len(in)-len(cdataClose)] // as programs' output comes
	case len(b) > longest*most:
		b = unescape(b[len(b)-longest*most:])
	default:
		b = unescape(b)
	}
	b = bytes.TrimSpace(b)
	return s.shown(string(b[max(0, len(b)-most):]))
}

// RawHead returns the first most bytes of Raw.
func (s *Scanner) RawHead(most int) string {
	b := s.raw()
	return string(b[:min(len(b), most)])
}

// RawUpTo returns Raw, or "" if it has more than most bytes: XML that is cut off is of
// no use.
func (s *Scanner) RawUpTo(most int) string {
	b := s.raw()
	if len(b) > most {
		return ""
	}
	return string(b)
}
