package protocol

import (
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// These are the fields of BOINC's messages that bxml.Codec does not have: values that BOINC prints
// as plain numbers, and elements that occur more than once.

// integer is a whole number, limited to 32 bits.
func integer(x bxml.Codec, name string, v *int) {
	if s := x.Reading(name); s != nil {
		scanInt(s, v)
	}
	if x.Writing() != nil {
		n := int64(*v)
		x.Int(name, &n)
	}
}

// bounded is a number that is read as one from 0 to most.
func bounded(x bxml.Codec, name string, v *float64, most float64) {
	x.Float(name, v)
	if x.Reading(name) != nil {
		*v = max(0, min(*v, most))
	}
}

// size is a number of bytes.
func size(x bxml.Codec, name string, v *int64) {
	if s := x.Reading(name); s != nil {
		scanBytes(s, v)
	}
	if x.Writing() != nil {
		x.Int(name, v)
	}
}

// floatSize is a number of bytes that is written with decimals.
func floatSize(x bxml.Codec, name string, v *int64) {
	if s := x.Reading(name); s != nil {
		scanBytes(s, v)
	}
	if x.Writing() != nil {
		f := float64(*v)
		x.Float(name, &f)
	}
}

// wholeFloat is a number that is written without decimals.
func wholeFloat(x bxml.Codec, name string, v *float64) {
	if s := x.Reading(name); s != nil {
		s.Float(v)
	}
	if x.Writing() != nil {
		n := int64(*v)
		x.Int(name, &n)
	}
}

// bits is a bit field. Invalid text is 0.
func bits(x bxml.Codec, name string, v *uint64) {
	if s := x.Reading(name); s != nil {
		*v, _ = strconv.ParseUint(strings.TrimSpace(s.Head(maxText)), 10, 64)
	}
	if w := x.Writing(); w != nil {
		w.Text(name, strconv.FormatUint(*v, 10))
	}
}

// span is a duration in seconds.
func span(x bxml.Codec, name string, v *time.Duration) {
	if s := x.Reading(name); s != nil {
		scanSpan(s, v)
	}
	if x.Writing() != nil {
		f := v.Seconds()
		x.Float(name, &f)
	}
}

// instant is a time in seconds with a fraction.
func instant(x bxml.Codec, name string, v *time.Time) {
	if s := x.Reading(name); s != nil {
		scanTime(s, v)
	}
	if x.Writing() != nil {
		f := UnixSeconds(*v)
		x.Float(name, &f)
	}
}

// date is a time that is written in whole seconds.
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

// eachLine is a list of texts. Texts after the first most are not read.
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

// key is the text of a key or a signature, which is not written if it is empty.
func key(x bxml.Codec, name string, v *string) {
	if s := x.Reading(name); s != nil {
		*v = strings.TrimSpace(s.Raw())
	}
	if w := x.Writing(); w != nil && *v != "" {
		w.Block(name, strings.TrimSpace(*v))
	}
}

// eachName is a list of elements with a <name>. Elements after the first most are not read.
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

// part is an element that occurs once. Of several, the last one is read.
func part[T any, P described[T]](x bxml.Codec, name string, v *T) {
	if x.Reading(name) != nil {
		var zero T
		*v = zero
	}
	x.Element(name, P(v).fields)
}

// each is a list of elements. Elements after the first maxList are not read.
func each[T any, P described[T]](x bxml.Codec, name string, list *[]T) {
	var zero T
	eachFrom[T, P](x, name, list, maxList, zero)
}

// eachFrom is a list of elements. Elements after the first most are not read. Fields that an element
// lacks get their values from start.
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
