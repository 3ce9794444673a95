// Package bxml reads and writes the dialect of XML that BOINC's programs use.
//
// It is not an XML parser. BOINC's peers write tags on lines, do not escape names, put arbitrary
// program output into CDATA sections, and skip unknown elements. A standard parser refuses such
// text. The rules here are the rules of BOINC's own reader, made safe: one pass, time bounded by
// the input's length, no recursion on unknown elements, and an element that never ends is an error
// rather than a silent loss.
//
// It does not define any messages. They are in package protocol.
package bxml

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
)

// ErrNotFound is returned by Find when the wanted start tag does not exist.
var ErrNotFound = errors.New("start tag not found")

// A Scanner iterates over the elements of one message. Errors are sticky: after the first one,
// every method does nothing and returns a zero value, and Err returns the error. It is not safe for
// concurrent use.
type Scanner struct {
	buf   []byte
	pos   int
	name  []byte // of the current start tag
	attrs []byte
	empty bool // the current tag was <name/>
	open  bool // the current element's content has not been consumed
	used  bool // the current element has been read
	err   error

	foreign bool
}

// NewScanner returns a scanner of b. It never changes b, and may retain it.
func NewScanner(b []byte) *Scanner { return &Scanner{buf: b} }

// Err returns the first error.
func (s *Scanner) Err() error { return s.err }

// Find moves to the first start tag called name, wherever it is, and makes it the current element.
// Text and other tags before it are skipped.
func (s *Scanner) Find(name string) error {
	for s.err == nil {
		end, ok := s.next()
		if !ok {
			return fmt.Errorf("<%s>: %w", name, ErrNotFound)
		}
		if end == nil && string(s.name) == name {
			return nil
		}
	}
	return s.err
}

// Offset returns the number of bytes of the input that have been read. In Children's loop this is
// the end of the current start tag.
func (s *Scanner) Offset() int { return s.pos }

// Name returns the name of the current element.
func (s *Scanner) Name() string { return string(s.name) }

// Used reports whether any method has read the current element.
func (s *Scanner) Used() bool { return s.used }

// Children enters the current element and yields the name of each element in it, in order. Parts of
// a child that the loop's body does not read are skipped, including its own children. If the body
// leaves the loop early, the Scanner must not be used again.
func (s *Scanner) Children() iter.Seq[string] {
	return func(yield func(string) bool) {
		for parent := s.enter(); s.child(parent); {
			if !yield(intern(s.name)) {
				return
			}
		}
	}
}

// enter enters the current element and returns its name, or nil if it is empty or has been read.
func (s *Scanner) enter() (parent []byte) {
	s.used = true
	if s.err != nil || !s.open {
		return nil
	}
	s.open = false
	return s.name
}

// child moves to the next child of parent. At the end of parent it returns false, and parent is the
// current element again.
func (s *Scanner) child(parent []byte) bool {
	for s.err == nil && parent != nil {
		if s.open {
			s.Skip()
			continue
		}
		end, ok := s.next()
		switch {
		case !ok:
			s.fail(fmt.Errorf("<%s> is not closed", clip(parent)))
		case end == nil:
			return true
		case bytes.Equal(end, parent):
			s.name, s.used = parent, true
			return false
		}
		// Another end tag is a stray one: BOINC's reader ignores it.
	}
	return false
}

// Enter makes the children of the current element look like its siblings, as BOINC's client does
// with unknown elements at the top level.
func (s *Scanner) Enter() { s.open = false }

// Skip skips the rest of the current element.
func (s *Scanner) Skip() {
	s.used = true
	if s.err != nil || !s.open {
		return
	}
	name, depth := s.name, 1
	s.open = false
	for depth > 0 {
		end, ok := s.next()
		switch {
		case !ok:
			s.fail(fmt.Errorf("<%s> is not closed", clip(name)))
			return
		case end != nil:
			if bytes.Equal(end, name) {
				depth--
			}
		case bytes.Equal(s.name, name):
			if s.open {
				depth++
			}
		}
		s.open = false
	}
	s.name, s.used = name, true
}

// Raw returns the current element's content unchanged, up to its literal end tag, whatever is in
// between.
func (s *Scanner) Raw() string {
	raw := s.raw()
	if s.foreign && len(raw) > maxRaw {
		s.fail(fmt.Errorf("<%s> is longer than %d bytes", clip(s.name), maxRaw))
		return ""
	}
	return string(raw)
}

func (s *Scanner) raw() []byte {
	s.used = true
	if s.err != nil || !s.open {
		return nil
	}
	s.open = false
	rest := s.buf[s.pos:]
	for from := 0; ; {
		i := bytes.Index(rest[from:], []byte("</"))
		if i < 0 {
			s.fail(fmt.Errorf("<%s> is not closed", clip(s.name)))
			return nil
		}
		i += from
		after := rest[i+2:]
		if bytes.HasPrefix(after, s.name) && len(after) > len(s.name) && after[len(s.name)] == '>' {
			s.pos += i + 2 + len(s.name) + 1
			return rest[:i]
		}
		from = i + 2
	}
}

// Text returns the current element's content as text: with entities and CDATA sections resolved,
// and without surrounding white space.
func (s *Scanner) Text() string {
	return s.shown(string(bytes.TrimSpace(unescape(s.raw()))))
}

// Int sets *v to the current element's whole number. Like BOINC's reader it accepts a base prefix
// (0x…, 0…), reads an empty element as 0, and leaves *v unchanged if the content is not a number. A
// number written with decimals is truncated, because old peers print integers as floats.
func (s *Scanner) Int(v *int64) {
	b := bytes.TrimSpace(s.raw())
	if len(b) == 0 {
		if s.err == nil {
			*v = 0
		}
		return
	}
	if n, err := strconv.ParseInt(string(b), 0, 64); err == nil {
		*v = n
		return
	}
	if f, ok := parseFloat(b); ok && math.Abs(f) < 1<<63 {
		*v = int64(f)
	}
}

// Float sets *v to the current element's number. If the content is not a finite number, *v stays
// unchanged. An empty element is 0.
func (s *Scanner) Float(v *float64) {
	b := bytes.TrimSpace(s.raw())
	if len(b) == 0 {
		if s.err == nil {
			*v = 0
		}
		return
	}
	if f, ok := parseFloat(b); ok {
		*v = f
	}
}

// Flag reads the current element as a flag. <x/> and numbers other than zero are true. <x>0</x> and
// all other content are false.
func (s *Scanner) Flag() bool {
	if s.empty {
		s.used = true
		return s.err == nil
	}
	f, ok := parseFloat(bytes.TrimSpace(s.raw()))
	return ok && f != 0
}

// Attr returns the value of an attribute of the current start tag, or "".
func (s *Scanner) Attr(name string) string {
	key := []byte(name + "=")
	for rest := s.attrs; ; {
		i := bytes.Index(rest, key)
		if i < 0 {
			return ""
		}
		v := rest[i+len(key):]
		preceded := i == 0 || rest[i-1] == ' ' || rest[i-1] == '\t' || rest[i-1] == '\n'
		if preceded && len(v) > 1 && (v[0] == '"' || v[0] == '\'') {
			if n := bytes.IndexByte(v[1:], v[0]); n >= 0 {
				return s.shown(string(unescape(v[1 : 1+n])))
			}
		}
		rest = v
	}
}

// next moves to the next tag. If it is a start tag, next makes it the current element and returns a
// nil end. If it is an end tag, next returns its name. ok is false at the end of the input.
func (s *Scanner) next() (end []byte, ok bool) {
	for s.err == nil {
		i := bytes.IndexByte(s.buf[s.pos:], '<')
		if i < 0 {
			s.pos = len(s.buf)
			return nil, false
		}
		s.pos += i
		rest := s.buf[s.pos:]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			s.skipTo("-->")
			continue
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			s.skipTo("]]>")
			continue
		case bytes.HasPrefix(rest, []byte("<?")), bytes.HasPrefix(rest, []byte("<!")):
			s.skipTo(">")
			continue
		}
		close := bytes.IndexByte(rest, '>')
		if close < 0 {
			s.pos = len(s.buf)
			return nil, false
		}
		s.pos += close + 1
		tag := rest[1:close]
		if len(tag) > 0 && tag[0] == '/' {
			name := bytes.TrimSpace(tag[1:])
			if len(name) == 0 {
				continue
			}
			return name, true
		}
		s.empty = len(tag) > 0 && tag[len(tag)-1] == '/'
		if s.empty {
			tag = tag[:len(tag)-1]
		}
		n := 0
		for n < len(tag) && !space(tag[n]) {
			n++
		}
		if n == 0 {
			continue // "<>" or "< x": text, not a tag
		}
		s.name, s.attrs, s.open, s.used = tag[:n], tag[n:], !s.empty, false
		return nil, true
	}
	return nil, false
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// skipTo moves behind the next mark or, without one, to the end of the input.
func (s *Scanner) skipTo(mark string) {
	i := bytes.Index(s.buf[s.pos:], []byte(mark))
	if i < 0 {
		s.pos = len(s.buf)
		return
	}
	s.pos += i + len(mark)
}

func (s *Scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.open = false
}

func parseFloat(b []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(b), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// clip shortens and quotes names for error messages, since they may be hostile.
func clip(name []byte) string {
	return strconv.QuoteToASCII(string(name[:min(len(name), 40)]))
}
