package installer

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
)

// hidden is a value that must not appear in any log.
type hidden string

func (hidden) LogValue() slog.Value { return slog.StringValue("hidden") }

// Only errors are written to the system's log, with their attributes.
func TestErrorsAreRecorded(t *testing.T) {
	var got []string
	log := slog.New(record{write: func(text string) { got = append(got, text) }}).With("project", "https://p.example/")
	log.Info("task started", "result", "r_0")
	log.Warn("a server is slow")
	log.Error("the disk is full", "err", errors.New("no space"), "key", hidden("secret"))
	want := []string{"the disk is full\nproject: https://p.example/\nerr: no space\nkey: hidden"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
