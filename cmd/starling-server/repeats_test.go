package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A warning that is repeated for each request is logged some times a minute, with the number of the
// lines that were left out. Other messages are logged, and information always.
func TestRepeatsAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(limitRepeats(slog.NewTextHandler(&out, nil)))
		lines := func(part string) int { return strings.Count(out.String(), part) }
		for range 100 {
			log.With("host", 7).Error("request failed")
			log.Info("work created")
		}
		log.Warn("disk is full")
		time.Sleep(time.Hour)
		synctest.Wait()
		if lines(`msg="request failed"`) != maxRepeats || lines("work created") != 100 || lines("disk is full") != 1 {
			t.Errorf("got %s", out.String())
		}
		if lines(`host=7 more="left out for up to 1m0s"`) != 1 {
			t.Errorf("the last line does not announce that the others are left out: %s", out.String())
		}
		if lines("left_out") != 1 || lines(`left_out=80 message="request failed"`) != 1 {
			t.Errorf("after an hour: %s", out.String())
		}
		out.Reset()
		log.Error("request failed")
		log.Error("request failed")
		if lines("request failed") != 2 {
			t.Errorf("again: %s", out.String())
		}
	})
}
