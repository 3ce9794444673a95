package bxml

import "strings"

// A Codec reads or writes the fields of an element. A type describes its fields once, in a function
// that works in both directions:
//
//	func (p *point) fields(x bxml.Codec) {
//		x.Float("x", &p.X)
//		x.Float("y", &p.Y)
//		x.Optional().Line("label", &p.Label, 80)
//	}
//
// When writing, each method writes its field, in the order of the calls. When reading, the function
// is called for each child of the element. The method with the child's name reads it, and the others
// do nothing. Each name must be unique in the function.
type Codec struct {
	s        *Scanner // nil when writing
	w        *Writer
	optional bool
}

// Fields reads the children of the current element. Children without a field are skipped.
func (s *Scanner) Fields(fields func(Codec)) {
	for parent := s.enter(); s.child(parent); {
		fields(s.Child())
	}
}

// Decode reads the children of the first element called name, wherever it is.
func (s *Scanner) Decode(name string, fields func(Codec)) error {
	if err := s.Find(name); err != nil {
		return err
	}
	s.Fields(fields)
	return s.Err()
}

// Child returns a Codec that reads the current element.
func (s *Scanner) Child() Codec { return Codec{s: s} }

// Fields writes fields into the open element.
func (w *Writer) Fields(fields func(Codec)) { fields(Codec{w: w}) }

// Element writes an element with its fields.
func (w *Writer) Element(name string, fields func(Codec)) {
	w.Open(name)
	w.Fields(fields)
	w.Close(name)
}

// Optional returns a Codec that does not write empty texts and numbers that are not positive.
func (x Codec) Optional() Codec {
	x.optional = true
	return x
}

// WriteIf returns a Codec that writes nothing unless on is true. Reading is not affected.
func (x Codec) WriteIf(on bool) Codec {
	if x.w != nil && !on {
		return Codec{s: nowhere}
	}
	return x
}

// nowhere does not have a current element.
var nowhere = new(Scanner)

// Reading returns the scanner if the current child is called name. Otherwise, it returns nil.
func (x Codec) Reading(name string) *Scanner {
	if x.s != nil && string(x.s.name) == name {
		return x.s
	}
	return nil
}

// Writing returns the writer, or nil when nothing is to be written.
func (x Codec) Writing() *Writer { return x.w }

// at reports whether a field is to be written or is the current child. When reading, most calls of a
// method for a field end here. The methods are short enough for the compiler to inline them, because
// another function does the rest.
func (x Codec) at(name string) bool { return x.s == nil || string(x.s.name) == name }

// Text reads or writes a text.
func (x Codec) Text(name string, v *string) {
	if x.at(name) {
		x.text(name, v, whole, 0)
	}
}

// Head reads the first most bytes of a text, or writes a text.
func (x Codec) Head(name string, v *string, most int) {
	if x.at(name) {
		x.text(name, v, (*Scanner).Head, most)
	}
}

// Line reads a text as one printable line, limited to most bytes, or writes a text.
func (x Codec) Line(name string, v *string, most int) {
	if x.at(name) {
		x.text(name, v, (*Scanner).Line, most)
	}
}

func whole(s *Scanner, _ int) string { return s.Text() }

func (x Codec) text(name string, v *string, read func(s *Scanner, most int) string, most int) {
	switch {
	case x.s != nil:
		*v = read(x.s, most)
	case *v != "" || !x.optional:
		x.w.Text(name, *v)
	}
}

// Key reads the first most bytes of the text of a key or a signature, or writes the text unless it is
// empty.
func (x Codec) Key(name string, v *string, most int) {
	if s := x.Reading(name); s != nil {
		*v = s.RawHead(most)
	}
	if x.w != nil && *v != "" {
		x.w.Block(name, strings.TrimSpace(*v))
	}
}

// Raw reads a peer's XML, or writes it unless it is empty.
func (x Codec) Raw(name string, v *string) {
	if s := x.Reading(name); s != nil {
		*v = s.Raw()
	}
	if x.w != nil && *v != "" {
		x.w.Block(name, *v)
	}
}

// Block reads or writes a peer's XML. XML longer than most bytes is read as "".
func (x Codec) Block(name string, v *string, most int) {
	if s := x.Reading(name); s != nil {
		*v = s.RawUpTo(most)
	}
	if x.w != nil && (*v != "" || !x.optional) {
		x.w.Block(name, *v)
	}
}

// Int reads or writes a whole number.
func (x Codec) Int(name string, v *int64) {
	if x.at(name) {
		x.int(name, v)
	}
}

func (x Codec) int(name string, v *int64) {
	switch {
	case x.s != nil:
		x.s.Int(v)
	case *v > 0 || !x.optional:
		x.w.Int(name, *v)
	}
}

// Float reads or writes a number.
func (x Codec) Float(name string, v *float64) {
	if x.at(name) {
		x.float(name, v)
	}
}

func (x Codec) float(name string, v *float64) {
	switch {
	case x.s != nil:
		x.s.Float(v)
	case *v > 0 || !x.optional:
		x.w.Float(name, *v)
	}
}

// Flag reads a flag, or writes it if it is set.
func (x Codec) Flag(name string, v *bool) {
	if x.at(name) {
		x.flag(name, v, (*Writer).Flag)
	}
}

// Bool reads a flag, or writes it as 1 or 0.
func (x Codec) Bool(name string, v *bool) {
	if x.at(name) {
		x.flag(name, v, (*Writer).Bool)
	}
}

func (x Codec) flag(name string, v *bool, write func(w *Writer, name string, v bool)) {
	if x.s != nil {
		*v = x.s.Flag()
	} else {
		write(x.w, name, *v)
	}
}

// WriteBool writes a flag that is not read, as 1 or 0.
func (x Codec) WriteBool(name string, v bool) {
	if x.w != nil {
		x.w.Bool(name, v)
	}
}

// WriteInt writes a whole number that is not read.
func (x Codec) WriteInt(name string, v int64) {
	if x.w != nil {
		x.w.Int(name, v)
	}
}

// WriteFloat writes a number that is not read.
func (x Codec) WriteFloat(name string, v float64) {
	if x.w != nil {
		x.w.Float(name, v)
	}
}

// Element reads or writes an element with fields.
func (x Codec) Element(name string, fields func(Codec)) {
	if s := x.Reading(name); s != nil {
		s.Fields(fields)
	}
	if x.w != nil {
		x.w.Element(name, fields)
	}
}
