package installer

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
)

// hidden is a value that no log may show.
type hidden string

func (hidden) LogValue() slog.Value { return slog.StringValue("hidden") }

// The system's own log has the errors and nothing else, with what they are about.
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
