package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// No control sequence gets to a terminal, except the colors of lines.
func TestPlainWriter(t *testing.T) {
	var b bytes.Buffer
	d := display{Writer: plainWriter{&b}, colour: true}
	text := d.paint(green, "ok \x1b]52;c;ZXZpbA==\x07 \u009b2J \u202e\xff end") + "\x1b[2J\x1b"
	if n, err := d.Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("%d of %d, %v", n, len(text), err)
	}
	if got := b.String(); got != green+"ok ]52;c;ZXZpbA== 2J \ufffd end"+reset+"[2J" {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		_, _ = plainWriter{&b}.Write([]byte(rapid.String().Draw(t, "text")))
		got := b.String()
		for _, c := range []string{bold, green, yellow, reset} {
			got = strings.ReplaceAll(got, c, "")
		}
		if strings.ContainsFunc(got, func(c rune) bool { return c != '\n' && c != '\t' && unicode.IsControl(c) }) {
			t.Fatalf("got %q", got)
		}
	})
}
