package logflag_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/logflag"
)

func TestHandler(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags map[string]bool
		want  string
	}{
		{"none", nil, "i task "},
		{"on", map[string]bool{"slot_debug": true}, "i task slot "},
		{"off", map[string]bool{"task": false}, "i "},
		{"both", map[string]bool{"task": false, "slot_debug": true}, "i slot "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(logflag.Handler(slog.NewTextHandler(&out, nil), c.flags))
			log.Debug("d")
			log.Info("i")
			log.Info("task", logflag.Key, logflag.Task)
			log.With(logflag.Key, logflag.Slot).With("slot", 1).Debug("slot")
			got := ""
			for line := range strings.Lines(out.String()) {
				_, after, _ := strings.Cut(line, "level=INFO msg=")
				got += strings.Fields(after)[0] + " "
			}
			if got != c.want {
				t.Errorf("got %q, want %q in\n%s", got, c.want, out.String())
			}
		})
	}
	var out bytes.Buffer
	slog.New(logflag.Handler(slog.NewTextHandler(&out, nil), map[string]bool{"task": false})).Warn("trouble", logflag.Key, logflag.Task)
	if !strings.Contains(out.String(), "trouble") {
		t.Error("a warning was kept back")
	}
}
