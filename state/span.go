package state

import (
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"
)

// A Span is a time during which the computer had the same activity, as far as computing is
// concerned.
type Span struct {
	Activity Activity  `json:"activity,omitzero"`
	Code     string    `json:"code,omitzero"` // the reason why it was suspended or off
	Why      string    `json:"why,omitzero"`  // Code in words, as they were when the span started
	Start    time.Time `json:"start,omitzero"`
	End      time.Time `json:"end,omitzero"`  // zero while Open
	Open     bool      `json:"open,omitzero"` // it continues, or after a crash it lasted until Host.LastSeen
}

// An Activity is a state of a computer.
type Activity string

// The activities.
const (
	Computing Activity = "computing"
	Waiting   Activity = "waiting"   // computing was allowed, but no task was ready to run
	Suspended Activity = "suspended" // computing was not allowed
	Off       Activity = "off"       // no agent ran, or the computer was asleep
)

// Reasons why a computer was off.
const (
	OffStopped = "stopped" // the agent was stopped, as when the computer is shut down
	OffKilled  = "killed"  // it ended without notice: it was killed, or the power failed
	OffAsleep  = "asleep"  // its clock jumped ahead while the agent ran
)

// Limits of the timeline.
const (
	MaxSpans      = 20_000
	MaxSpanBytes  = 4 << 20
	spansKeptDays = 366
)

var spans = logbook{bucket: spanBucket, most: MaxSpans, mostBytes: MaxSpanBytes}

// AddSpans adds spans to the timeline as part of tx. With replace set, the first of them replaces
// the last one of the timeline.
func (db *DB) AddSpans(tx *Tx, replace bool, list ...Span) {
	tx.onDisk = append(tx.onDisk, func(d *disk) error {
		_, n, _ := spans.ends(d.Tx)
		if !replace || n == 0 {
			n++
		}
		for _, s := range list {
			data, err := json.Marshal(s)
			if err != nil {
				return err
			}
			if err := spans.put(d, n, data); err != nil {
				return err
			}
			n++
		}
		newest := list[len(list)-1].Start
		return spans.trim(d, func(value []byte) bool {
			var s Span
			return json.Unmarshal(value, &s) == nil && newest.Sub(s.End) > spansKeptDays*24*time.Hour
		}, nil)
	})
}

// Spans reads the timeline from the file, starting with the last span, and with before set, only
// spans before that number. It stops when yield returns false. Only the goroutine that owns the DB
// may call it.
func (db *DB) Spans(before uint64, yield func(n uint64, s Span) bool) error {
	return db.view(func(b *bbolt.Tx) error { return backwards(b, spans, before, yield) })
}

// Certain returns the time until which a span that no agent closed certainly lasted: until an agent
// was last running.
func (db *DB) Certain(s Span) time.Time {
	h, _ := db.Hosts.Get(Self)
	if h.LastSeen.Before(s.Start) {
		return s.Start
	}
	return h.LastSeen
}

// LastSpan returns the last span of the timeline. ok is false if there is none.
func (db *DB) LastSpan() (s Span, ok bool, err error) {
	err = db.Spans(0, func(_ uint64, last Span) bool {
		s, ok = last, true
		return false
	})
	return s, ok, err
}
