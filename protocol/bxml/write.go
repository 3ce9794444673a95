package bxml

import (
	"slices"
	"strconv"
	"strings"
)

// A Writer builds a message with one element a line, as BOINC's programs print them. The zero value
// is ready to use.
type Writer struct {
	buf []byte
}

// Grow makes room for n bytes, to save the steps to the usual length of a message.
func (w *Writer) Grow(n int) { w.buf = slices.Grow(w.buf, n) }

// Bytes returns the message written so far. It is valid until the next write.
func (w *Writer) Bytes() []byte { return w.buf }

// Open writes <name>.
func (w *Writer) Open(name string) { w.line("<", name, ">") }

// Close writes </name>.
func (w *Writer) Close(name string) { w.line("</", name, ">") }

// Empty writes <name/>, a set flag.
func (w *Writer) Empty(name string) { w.line("<", name, "/>") }

// Flag writes <name/> if v is set and nothing otherwise.
func (w *Writer) Flag(name string, v bool) {
	if v {
		w.Empty(name)
	}
}

// Bool writes <name>1</name> or <name>0</name>.
func (w *Writer) Bool(name string, v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	w.Int(name, n)
}

// Text writes an element with escaped text.
func (w *Writer) Text(name, v string) {
	w.start(name)
	w.buf = appendEscaped(w.buf, v)
	w.end(name)
}

// TextIf writes an element with escaped text, unless v is empty.
func (w *Writer) TextIf(name, v string) {
	if v != "" {
		w.Text(name, v)
	}
}

// Int writes a whole number. It is never padded with zeros, because BOINC would read it as octal.
func (w *Writer) Int(name string, v int64) {
	w.start(name)
	w.buf = strconv.AppendInt(w.buf, v, 10)
	w.end(name)
}

// Float writes a number with six decimals, as printf's %f does.
func (w *Writer) Float(name string, v float64) {
	w.start(name)
	w.buf = strconv.AppendFloat(w.buf, v, 'f', 6, 64)
	w.end(name)
}

// Block writes an element whose content v is XML or key text that must reach the peer unchanged: on
// separate lines, unescaped.
func (w *Writer) Block(name, v string) {
	w.Open(name)
	w.Raw(v)
	w.Close(name)
}

// CDATA writes arbitrary text, on separate lines, as content of the open element. It breaks up any
// "]]>" in v, which would end the section.
func (w *Writer) CDATA(v string) {
	w.buf = append(w.buf, cdataOpen...)
	w.buf = append(w.buf, '\n')
	for i := 0; i < len(v); i++ {
		if v[i] == '>' && i >= 2 && v[i-1] == ']' && v[i-2] == ']' {
			w.buf = append(w.buf, ' ')
		}
		w.buf = append(w.buf, v[i])
	}
	if !strings.HasSuffix(v, "\n") {
		w.buf = append(w.buf, '\n')
	}
	w.buf = append(w.buf, cdataClose...)
	w.buf = append(w.buf, '\n')
}

// Raw writes v unchanged, and a line break if v does not end with one.
func (w *Writer) Raw(v string) {
	w.buf = append(w.buf, v...)
	if n := len(w.buf); n > 0 && w.buf[n-1] != '\n' {
		w.buf = append(w.buf, '\n')
	}
}

func (w *Writer) line(a, name, b string) {
	w.buf = append(append(append(w.buf, a...), name...), b...)
	w.buf = append(w.buf, '\n')
}

func (w *Writer) start(name string) {
	w.buf = append(append(append(w.buf, '<'), name...), '>')
}

func (w *Writer) end(name string) { w.line("</", name, ">") }

// EscapeAttr returns v in a form that can be put between quotes in a start tag.
func EscapeAttr(v string) string {
	return strings.ReplaceAll(string(appendEscaped(nil, v)), `"`, "&quot;")
}

func appendEscaped(b []byte, v string) []byte {
	for i := range len(v) {
		switch c := v[i]; c {
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '&':
			b = append(b, "&amp;"...)
		default:
			b = append(b, c)
		}
	}
	return b
}
