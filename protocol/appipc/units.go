package appipc

import (
	"math"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// BOINC writes seconds and bytes as floats. Only the functions here convert them to Go's types. A
// value that does not fit becomes the nearest one that does.

func duration(x bxml.Codec, name string, d *time.Duration) {
	v := d.Seconds()
	x.Float(name, &v)
	if x.Reading(name) != nil {
		*d = seconds(v)
	}
}

func seconds(v float64) time.Duration {
	const limit = math.MaxInt64 / float64(time.Second)
	switch {
	case v >= limit:
		return math.MaxInt64
	case v <= -limit:
		return math.MinInt64
	}
	return time.Duration(math.Round(v * float64(time.Second)))
}

// floatBytes reads a number of bytes, or writes one with decimals.
func floatBytes(x bxml.Codec, name string, n *int64) {
	v := float64(*n)
	x.Float(name, &v)
	if x.Reading(name) != nil {
		const limit = 1 << 62
		*n = int64(min(max(v, -limit), limit))
	}
}

// wholeBytes reads a number of bytes, or writes one without decimals.
func wholeBytes(x bxml.Codec, name string, n *int64) {
	floatBytes(x.WriteIf(false), name, n)
	x.WriteInt(name, *n)
}

func instant(x bxml.Codec, name string, t *time.Time) {
	v := unix(*t)
	x.Float(name, &v)
	if x.Reading(name) != nil && v > 0 && v < 1<<40 {
		sec, frac := math.Modf(v)
		*t = time.Unix(int64(sec), int64(frac*1e9))
	}
}

// unix returns t in BOINC's seconds. The zero time is 0.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMicro()) / 1e6
}

func integer(x bxml.Codec, name string, n *int) {
	v := int64(*n)
	x.Int(name, &v)
	if x.Reading(name) != nil {
		*n = int(v)
	}
}

// inner reads or writes an element's XML, without the line ends next to its tags.
func inner(x bxml.Codec, name string, xml *string) {
	if s := x.Reading(name); s != nil {
		*xml = strings.TrimRight(strings.TrimLeft(s.Raw(), "\r\n"), " \t\r\n")
	}
	if w := x.Writing(); w != nil && *xml != "" {
		w.Block(name, *xml)
	} else if w != nil {
		x.Text(name, xml) // without the blank line of an empty block
	}
}
