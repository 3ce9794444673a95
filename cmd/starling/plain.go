package main

import (
	"io"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// printable takes what could steer a terminal out of a text.
func printable(text string) string { return bxml.Printable(text, len(text)) }

// A plainWriter removes everything from output that controls a terminal, except the colors of
// lines, whatever its origin. Each Write must contain whole characters.
type plainWriter struct{ under io.Writer }

func (p plainWriter) Write(b []byte) (int, error) {
	var out strings.Builder
	for rest := string(b); rest != ""; {
		i := strings.IndexByte(rest, 0x1b)
		if i < 0 {
			i = len(rest)
		}
		out.WriteString(printable(rest[:i]))
		rest = rest[i:]
		own := ""
		for _, c := range []string{bold, green, yellow, reset} {
			if strings.HasPrefix(rest, c) {
				own = c
			}
		}
		out.WriteString(own)
		rest = rest[min(len(rest), max(len(own), 1)):]
	}
	if _, err := io.WriteString(p.under, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// raw returns the writer below a plainWriter, for output whose texts were checked one by one, and
// for line ends that a plainWriter takes for control characters.
func raw(out io.Writer) io.Writer {
	if p, ok := out.(plainWriter); ok {
		return p.under
	}
	return out
}
