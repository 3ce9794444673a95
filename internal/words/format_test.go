package words

import (
	"math"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                             "0 s",
		400 * time.Millisecond:        "0 s",
		59*time.Second + 900e6:        "1 min",
		time.Hour - time.Second:       "59 min 59 s",
		5*time.Hour + 56*time.Minute:  "5 h 56 min",
		-90 * time.Second:             "1 min 30 s",
		24 * time.Hour:                "1 d",
		26*time.Hour + 30*time.Minute: "1 d 2 h",
		24*time.Hour + 30*time.Minute: "1 d",
		3*time.Hour + 10*time.Second:  "3 h",
		1000*24*time.Hour + time.Hour: "1000 d 1 h",
		2*time.Minute + 3*time.Second: "2 min 3 s",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("", 3600)
	now := time.Date(2026, 3, 1, 23, 30, 0, 0, zone)
	for _, tt := range []struct {
		t            time.Time
		noun, adverb string
	}{
		{now, "23:30:00", "at 23:30"},
		{now.UTC(), "23:30:00", "at 23:30"},
		{now.Add(-23 * time.Hour), "00:30", "at 00:30"},
		{now.Add(time.Hour), "tomorrow at 00:30", "tomorrow at 00:30"},
		{now.Add(-24 * time.Hour), "yesterday at 23:30", "yesterday at 23:30"},
		{now.Add(25 * time.Hour), "2026-03-03 00:30", "on 2026-03-03 00:30"},
		{now.Add(-365 * 24 * time.Hour), "2025-03-01 23:30", "on 2025-03-01 23:30"},
	} {
		if got := Time(tt.t, now).String(); got != tt.noun {
			t.Errorf("Time of %v: got %q, want %q", tt.t, got, tt.noun)
		}
		if got := When(tt.t, now).String(); got != tt.adverb {
			t.Errorf("When of %v: got %q, want %q", tt.t, got, tt.adverb)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 tasks", "1 task", "2 tasks"} {
		if got := Count(n, "task").String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KB", 1536: "1.5 KB", 1_048_524: "1023.9 KB", 1_048_525: "1 MB",
		2 << 30: "2 GB", 1_319_413_953_331: "1.2 TB", math.MaxInt64: "8 EB",
	} {
		if got := Bytes(n).String(); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
