package state

import (
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// A Span is a time during which the computer did one thing, as far as computing goes.
type Span struct {
	Activity Activity  `json:"activity,omitzero"`
	Code     string    `json:"code,omitzero"` // why it was suspended or off
	Why      string    `json:"why,omitzero"`  // the same in words, as they were when it started
	Start    time.Time `json:"start,omitzero"`
	End      time.Time `json:"end,omitzero"`  // zero while Open
	Open     bool      `json:"open,omitzero"` // it lasts; after a crash until Host.LastSeen
}

// An Activity is what a computer does.
type Activity string

// The activities.
const (
	Computing Activity = "computing"
	Waiting   Activity = "waiting"   // computing was allowed, and there was no task to run
	Suspended Activity = "suspended" // computing was not allowed
	Off       Activity = "off"       // no agent ran, or the computer was asleep
)

// Why a computer was off.
const (
	OffStopped = "stopped" // the agent was stopped, as when the computer is shut down
	OffKilled  = "killed"  // it ended without a word: it was killed, or there was no power
	OffAsleep  = "asleep"  // its clock went ahead while the agent ran
)

// Bounds of the timeline.
const (
	MaxSpans      = 20_000
	MaxSpanBytes  = 4 << 20
	spansKeptDays = 366
)

var spans = logbook{bucket: spanBucket, most: MaxSpans, mostBytes: MaxSpanBytes}

// AddSpans adds to the timeline as part of tx. With replace set, the first of them takes
// the place of the last one that is there.
func (db *DB) AddSpans(tx *Tx, replace bool, list ...Span) {
	tx.onDisk = append(tx.onDisk, func(d *disk) error {
		n, _ := spans.last(d.Tx)
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

// Spans reads the timeline from the file, the last span first, from the one before number
// before on; 0: from the last. It ends when yield returns false. Only the goroutine that
// owns the DB may call it.
func (db *DB) Spans(before uint64, yield func(n uint64, s Span) bool) error {
	return db.view(func(b *bbolt.Tx) error {
		return spans.backwards(b, before, func(n uint64, value []byte) (bool, error) {
			var s Span
			if err := json.Unmarshal(value, &s); err != nil {
				return false, fmt.Errorf("%s %d: %w", spanBucket, n, err)
			}
			return yield(n, s), nil
		})
	})
}

// Certain is until when a span lasted that no agent closed: as far as one was seen alive.
func (db *DB) Certain(s Span) time.Time {
	h, _ := db.Hosts.Get(Self)
	if h.LastSeen.Before(s.Start) {
		return s.Start
	}
	return h.LastSeen
}

// LastSpan returns the span that the timeline ends with; ok is false if there is none.
func (db *DB) LastSpan() (s Span, ok bool, err error) {
	err = db.Spans(0, func(_ uint64, last Span) bool {
		s, ok = last, true
		return false
	})
	return s, ok, err
}
