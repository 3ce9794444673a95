package scheduler

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The log has the number of requests now and then, and not more often.
func TestTally(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, nil))
	var c tally
	begin := time.Unix(1e9, 0)
	for i := range 700 {
		c.add(log, begin.Add(time.Duration(i)*time.Second), i%7 == 0, 2, 1, 3)
	}
	lines := strings.Count(b.String(), "\n")
	if lines != 1 || !strings.Contains(b.String(), "requests=601 refused=86 reported=1202 accepted=601 sent=1803 minutes=10") {
		t.Errorf("%d lines: %s", lines, b.String())
	}
}
