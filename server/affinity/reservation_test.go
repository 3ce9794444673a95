package affinity_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/setting"
)

var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestReservation(t *testing.T) {
	r := affinity.Settings{Most: 24, Silence: 60}
	if got := r.First(start); !got.Equal(start.Add(time.Hour)) {
		t.Errorf("reserved at first until %v", got)
	}
	if got := (affinity.Settings{Most: 24}).First(start); !got.Equal(start.Add(24 * time.Hour)) {
		t.Errorf("without a limit on silence, reserved until %v", got)
	}
	if got := (affinity.Settings{Most: 1. / 60, Silence: 60}).First(start); !got.Equal(start.Add(time.Minute)) {
		t.Errorf("reserved for longer than at the most: until %v", got)
	}
	for _, tt := range []struct {
		name       string
		until, now time.Duration // after the report
		want       time.Duration
		renewed    bool
	}{
		{"a host that is heard of keeps it", time.Hour, 20 * time.Minute, 80 * time.Minute, true},
		{"though it was free for a while", time.Hour, 3 * time.Hour, 4 * time.Hour, true},
		{"not for every request", time.Hour, time.Minute, time.Hour, false},
		{"but no longer than at the most", 23 * time.Hour, 23*time.Hour + 30*time.Minute, 24 * time.Hour, true},
		{"after which it is free", 24 * time.Hour, 25 * time.Hour, 24 * time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, renewed := r.Renewed(start.Add(tt.until), start, start.Add(tt.now))
			if !got.Equal(start.Add(tt.want)) || renewed != tt.renewed {
				t.Errorf("reserved until %v after the report, renewed %v; want %v, %v", got.Sub(start), renewed, tt.want, tt.renewed)
			}
		})
	}
}

// Files that a host made are wanted elsewhere when it is slow, or always.
func TestCopies(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules affinity.Settings
		now   time.Duration // after the report
		sent  bool
		want  bool
	}{
		{"a host that has just reported", affinity.Settings{Most: 24, Silence: 60}, 20 * time.Minute, false, false},
		{"one that does not take the next for an hour", affinity.Settings{Most: 24, Silence: 60}, time.Hour, false, true},
		{"one that takes it then", affinity.Settings{Most: 24, Silence: 60}, time.Hour, true, false},
		{"without a limit on silence, it has a day", affinity.Settings{Most: 24}, 23 * time.Hour, false, false},
		{"and no more", affinity.Settings{Most: 24}, 24 * time.Hour, false, true},
		{"always", affinity.Settings{Most: 24, Silence: 60, Copies: true}, 0, true, true},
	} {
		if got := tt.rules.Copy(start, start.Add(tt.now), tt.sent); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// The host that reported is called back within seconds, and less and less often if the outcome
// depends on others.
func TestTheNextOfAChainIsAskedForSoon(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules affinity.Settings
		now   time.Duration // after the report
		want  time.Duration
	}{
		{"with the report", affinity.Settings{Silence: 60}, 0, 3 * time.Second},
		{"a moment later", affinity.Settings{Silence: 60}, 2 * time.Second, 3 * time.Second},
		{"a minute later", affinity.Settings{Silence: 60}, time.Minute, time.Minute},
		{"a day later", affinity.Settings{Silence: 60}, 24 * time.Hour, 20 * time.Minute},
		{"where hosts must not be silent for long", affinity.Settings{Silence: 0.1}, time.Minute, 3 * time.Second},
		{"without a limit on silence", affinity.Settings{}, 0, 3 * time.Second},
		{"and half an hour later", affinity.Settings{}, 30 * time.Minute, 30 * time.Minute},
		{"and a day later", affinity.Settings{}, 24 * time.Hour, 0},
		{"by a clock that went back", affinity.Settings{Silence: 60}, -time.Hour, 3 * time.Second},
	} {
		if got := tt.rules.Next(start, start.Add(tt.now)); got != tt.want {
			t.Errorf("%s: within %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A host that makes its requests in time keeps its reservation until it must end.
func TestReservationLasts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes := rapid.IntRange(3, 10_000)
		r := affinity.Settings{Most: setting.Hours(minutes.Draw(t, "most")) / 60, Silence: setting.Minutes(minutes.Draw(t, "silence"))}
		until := r.First(start)
		for now := start; now.Before(start.Add(r.Most.Duration())); now = now.Add(r.Back()) {
			if until.Before(now) {
				t.Fatalf("free after %v", now.Sub(start))
			}
			until, _ = r.Renewed(until, start, now)
			if until.After(start.Add(r.Most.Duration())) {
				t.Fatalf("reserved for %v", until.Sub(start))
			}
		}
	})
}
