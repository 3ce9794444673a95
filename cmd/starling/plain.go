package main

import (
	"io"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// printable takes what could steer a terminal out of a text.
func printable(text string) string { return bxml.Printable(text, len(text)) }

// A plainWriter filters all output for people. Of all terminal control sequences it only lets the
// colors of lines pass, no matter who wrote the text. Each Write must contain whole characters.
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

// raw returns the writer without the filter. It is for output whose texts are already filtered, and
// whose line endings a plainWriter would take for control characters.
func raw(out io.Writer) io.Writer {
	if p, ok := out.(plainWriter); ok {
		return p.under
	}
	return out
}
