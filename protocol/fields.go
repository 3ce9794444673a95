package protocol

import (
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// The functions here read or write the fields of BOINC's messages that bxml.Codec does not have:
// values that BOINC prints as plain numbers, and elements that occur more than once.

// prose reads a message for people.
func prose(x bxml.Codec, name string, v *string) {
	if s := x.Reading(name); s != nil {
		*v = bxml.Printable(s.Text(), maxProse)
	}
}

// integer reads a whole number, limited to 32 bits, or writes one.
func integer(x bxml.Codec, name string, v *int) {
	if s := x.Reading(name); s != nil {
		scanInt(s, v)
	}
	if x.Writing() != nil {
		n := int64(*v)
		x.Int(name, &n)
	}
}

// bounded reads a number as one from 0 to most, or writes one.
func bounded(x bxml.Codec, name string, v *float64, most float64) {
	x.Float(name, v)
	if x.Reading(name) != nil {
		*v = max(0, min(*v, most))
	}
}

// size reads or writes a number of bytes.
func size(x bxml.Codec, name string, v *int64) {
	if s := x.Reading(name); s != nil {
		scanBytes(s, v)
	}
	if x.Writing() != nil {
		x.Int(name, v)
	}
}

// floatSize reads a number of bytes, or writes one with decimals.
func floatSize(x bxml.Codec, name string, v *int64) {
	if s := x.Reading(name); s != nil {
		scanBytes(s, v)
	}
	if x.Writing() != nil {
		f := float64(*v)
		x.Float(name, &f)
	}
}

// wholeFloat reads a number, or writes one without decimals.
func wholeFloat(x bxml.Codec, name string, v *float64) {
	if s := x.Reading(name); s != nil {
		s.Float(v)
	}
	if x.Writing() != nil {
		n := int64(*v)
		x.Int(name, &n)
	}
}

// bits reads or writes a bit field. Invalid text is 0.
func bits(x bxml.Codec, name string, v *uint64) {
	if s := x.Reading(name); s != nil {
		*v, _ = strconv.ParseUint(strings.TrimSpace(s.Head(maxText)), 10, 64)
	}
	if w := x.Writing(); w != nil {
		w.Text(name, strconv.FormatUint(*v, 10))
	}
}

// span reads or writes a duration in seconds.
func span(x bxml.Codec, name string, v *time.Duration) {
	if s := x.Reading(name); s != nil {
		scanSpan(s, v)
	}
	if x.Writing() != nil {
		f := v.Seconds()
		x.Float(name, &f)
	}
}

// instant reads or writes a time in seconds with a fraction.
func instant(x bxml.Codec, name string, v *time.Time) {
	if s := x.Reading(name); s != nil {
		scanTime(s, v)
	}
	if x.Writing() != nil {
		f := UnixSeconds(*v)
		x.Float(name, &f)
	}
}

// date reads a time, or writes one in whole seconds.
func date(x bxml.Codec, name string, v *time.Time) {
	if s := x.Reading(name); s != nil {
		scanTime(s, v)
	}
	if x.Writing() != nil {
		n := int64(0)
		if !v.IsZero() {
			n = v.Unix()
		}
		x.Int(name, &n)
	}
}

// eachLine reads or writes a list of texts. Texts after the first most are not read.
func eachLine(x bxml.Codec, name string, v *[]string, most int) {
	if s := x.Reading(name); s != nil && len(*v) < most {
		*v = append(*v, s.Line(maxText))
	}
	if w := x.Writing(); w != nil {
		for _, line := range *v {
			w.Text(name, line)
		}
	}
}

// key reads the text of a key or a signature, or writes it unless it is empty.
func key(x bxml.Codec, name string, v *string) {
	if s := x.Reading(name); s != nil {
		*v = strings.TrimSpace(s.Raw())
	}
	if w := x.Writing(); w != nil && *v != "" {
		w.Block(name, strings.TrimSpace(*v))
	}
}

// eachName reads or writes a list of elements with a <name>. Elements after the first most are not
// read.
func eachName(x bxml.Codec, element string, list *[]string, most int, read func(*bxml.Scanner) string) {
	if s := x.Reading(element); s != nil && len(*list) < most {
		*list = append(*list, read(s))
	}
	if w := x.Writing(); w != nil {
		writeNames(w, element, *list)
	}
}

func scanName(s *bxml.Scanner) (v string) {
	s.Fields(func(x bxml.Codec) { x.Text("name", &v) })
	return v
}

func scanLineName(s *bxml.Scanner) (v string) {
	s.Fields(func(x bxml.Codec) { x.Line("name", &v, maxText) })
	return v
}

func writeNames(w *bxml.Writer, element string, names []string) {
	for _, n := range names {
		w.Element(element, func(x bxml.Codec) { x.Text("name", &n) })
	}
}

// described is implemented by the pointers to values that are elements.
type described[T any] interface {
	*T
	fields(x bxml.Codec)
}

// part reads or writes an element that occurs once. Of several, the last one counts.
func part[T any, P described[T]](x bxml.Codec, name string, v *T) {
	if x.Reading(name) != nil {
		var zero T
		*v = zero
	}
	x.Element(name, P(v).fields)
}

// each reads or writes a list of elements. Elements after the first maxList are not read.
func each[T any, P described[T]](x bxml.Codec, name string, list *[]T) {
	var zero T
	eachFrom[T, P](x, name, list, maxList, zero)
}

// eachFrom reads or writes a list of elements. Elements after the first most are not read. Fields
// that an element lacks get their values from start.
func eachFrom[T any, P described[T]](x bxml.Codec, name string, list *[]T, most int, start T) {
	if s := x.Reading(name); s != nil && len(*list) < most {
		*list = append(*list, start)
		s.Fields(P(&(*list)[len(*list)-1]).fields)
	}
	if w := x.Writing(); w != nil {
		for i := range *list {
			w.Element(name, P(&(*list)[i]).fields)
		}
	}
}

// scanned reads the current element.
func scanned[T any, P described[T]](s *bxml.Scanner) (v T) {
	s.Fields(P(&v).fields)
	return v
}
