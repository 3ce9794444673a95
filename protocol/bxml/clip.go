package bxml

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Peers may send texts of any length. The methods here limit the length of the returned text and
// the memory allocated for it, so that a message never takes many times its length.

// longest is the length of the longest entity: at most so many bytes of raw text make one byte.
const longest = len("&quot;")

// Line returns Text as one Printable line, limited to most bytes. Bytes that are not UTF-8 become
// '?', and a sequence of blanks, line breaks and tabs becomes one blank.
func (s *Scanner) Line(most int) string {
	text := s.Head(2*most + utf8.UTFMax)
	if !plain(text) || strings.Contains(text, "  ") || strings.TrimSpace(text) != text { // rare
		text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	}
	return Printable(text, most)
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
		b = in[:len(in)-len(cdataClose)] // the usual form of a program's output
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

// RawUpTo returns Raw, or "" if it is longer than most bytes, because truncated XML is useless.
func (s *Scanner) RawUpTo(most int) string {
	b := s.raw()
	if len(b) > most {
		return ""
	}
	return string(b)
}
