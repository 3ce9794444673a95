package affinity

import (
	"time"

	"github.com/starling-grid/starling/server/setting"
)

// Settings define for how long the next workunit of a chain is reserved for the hosts that have the
// files. While such a host makes contact, the reservation is renewed, up to a time. When it is
// silent, the chain migrates.
type Settings struct {
	Most    setting.Hours   `toml:"affinity_hours"` // from the report of the result before
	Silence setting.Minutes `toml:"affinity_silence_minutes"`
	Gone    setting.Days    `toml:"affinity_gone_days"`
	Copies  bool            `toml:"affinity_copies"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&s.Most, 24, 24*365,
			`Maximum number of hours for which a workunit is reserved for computers that have the files of its
			predecessor (work create --predecessor).`),
		setting.Number(&s.Silence, 60, 60*24*365,
			`Minutes without a request after which a computer loses its reservation and any other may have the
			workunit. The server makes computers with reservations send requests three times as often. 0: the
			reservation lasts for affinity_hours.`),
		setting.Number(&s.Gone, 7, 3650,
			`Days without a request from any computer that has a file which a task made there (work create
			--generated). After that, a workunit that needs the file is given up. 0: it waits forever.`),
		setting.Of(&s.Copies, false,
			`Whether computers upload each file that a task made for the next one of its chain (work create
			--generated), so that the chain can move even if a computer is never seen again. Otherwise they upload
			such files only if they do not take the next task in time.`),
	}
}

// First returns until when a workunit is reserved that comes after one whose outcome is
// known at now.
func (s Settings) First(now time.Time) time.Time { return now.Add(s.first()) }

func (s Settings) first() time.Duration {
	most, silence := s.Most.Duration(), s.Silence.Duration()
	if silence > 0 {
		return min(most, silence)
	}
	return most
}

// Renewed returns the new end of a workunit's reservation, which was until, after a request at now
// from a host that has the files and reported the previous result at reported. renewed is false if
// that changes too little to be worth storing.
func (s Settings) Renewed(until, reported, now time.Time) (_ time.Time, renewed bool) {
	silence := s.Silence.Duration()
	if silence <= 0 {
		return until, false
	}
	next := now.Add(silence)
	if most := reported.Add(s.Most.Duration()); next.After(most) {
		next = most
	}
	if next.Sub(until) < silence/8 || !next.After(now) {
		return until, false
	}
	return next, true
}

// Copy reports whether a host that makes a request at now is to upload the files which it made
// for a workunit that is kept for it, so that others can compute that too: always, or if it is
// slow. Then it has reported the result before at reported, long ago, and does not take the
// workunit now either, which sent would be.
func (s Settings) Copy(reported, now time.Time, sent bool) bool {
	return s.Copies || !sent && !now.Before(reported.Add(s.first()))
}

// Bounds of the wait for the next workunit of a chain. The validator has usually judged a result
// seconds after it was reported. If others have to report one too, that may take days.
const (
	soon    = 3 * time.Second
	waitFor = time.Hour
)

// Next returns the time within which a host should make its next request. At reported it reported a
// result, and the workunit that follows it still waits for the outcome at now. The time is seconds
// at first, then longer and longer. 0 leaves the time to the host.
func (s Settings) Next(reported, now time.Time) time.Duration {
	passed := max(0, now.Sub(reported))
	if back := s.Back(); back > 0 {
		return min(max(soon, passed), max(soon, back))
	}
	if passed >= waitFor {
		return 0
	}
	return max(soon, passed)
}

// Back returns the time within which a host with a reserved workunit should make its next request.
// 0 leaves the time to the host.
func (s Settings) Back() time.Duration { return s.Silence.Duration() / 3 }
