package state

import (
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/reason"
)

// The waits of a record are its times by this computer's clock at which a wait ends, or from which
// one is counted. Each kind of record passes its waits to wait, which may change them. A new field
// with a time is one of them, or has a reason not to be in waits_test.go.

// Shift keeps all waits as long as they were when this computer's clock is set, as part of tx: their
// times change by as much. It applies to times that were recorded before the clock was set.
func (db *DB) Shift(tx *Tx, by time.Duration) {
	if by == 0 {
		return
	}
	shift(tx, &db.Hosts, by, (*Host).waits)
	shift(tx, &db.Projects, by, (*Project).waits)
	shift(tx, &db.Files, by, (*File).waits)
	shift(tx, &db.Results, by, (*Result).waits)
	shift(tx, &db.Managers, by, (*Manager).waits)
	shift(tx, &db.Notices, by, (*Notice).waits)
}

func shift[V any](tx *Tx, t *Table[V], by time.Duration, waits func(v *V, wait func(...*time.Time))) {
	for key, v := range t.All() {
		changed := false
		waits(&v, func(all ...*time.Time) {
			for _, at := range all {
				if !at.IsZero() {
					// Without Round, a time of this run would keep its reading of the clock that
					// was not set, and be compared by that.
					*at, changed = at.Round(0).Add(by), true
				}
			}
		})
		if changed {
			t.Put(tx, key, v)
		}
	}
}

func (h *Host) waits(wait func(...*time.Time)) {
	wait(&h.RunMode.Until, &h.NetMode.Until, &h.GPUMode.Until)
}

// waits clones lists, which other copies of the project share.
func (p *Project) waits(wait func(...*time.Time)) {
	wait(&p.Ending.Since, &p.Ending.At)
	wait(&p.Contact.MinRPCTime, &p.Contact.NextRPCTime, &p.Contact.LastRPC)
	wait(&p.Fetch.NextTry, &p.Fetch.AskedAt)
	p.Fetch.Refused = slices.Clone(p.Fetch.Refused)
	ofReasons(wait, &p.Contact.Trouble)
	ofReasons(wait, pointers(p.Fetch.Refused)...)
	p.Streams = maps.Clone(p.Streams)
	for k, s := range p.Streams {
		s.Refused = slices.Clone(s.Refused)
		wait(&s.NextTry)
		ofReasons(wait, pointers(s.Refused)...)
		p.Streams[k] = s
	}
	p.Feeds = slices.Clone(p.Feeds)
	for i := range p.Feeds {
		wait(&p.Feeds[i].Next)
	}
}

func (f *File) waits(wait func(...*time.Time)) {
	wait(&f.NextTry, &f.FirstTry, &f.Used, &f.StickyUntil)
	ofReasons(wait, &f.Obstacle)
}

func (r *Result) waits(wait func(...*time.Time)) {
	wait(&r.Completed, &r.AbortAt, &r.NotBefore)
	ofReasons(wait, &r.Obstacle)
	if !r.ReadyToReport { // from then on it identifies the result in the history
		wait(&r.Received)
	}
}

func (m *Manager) waits(wait func(...*time.Time)) {
	wait(&m.NextTry)
	ofReasons(wait, &m.Why)
}

func (n *Notice) waits(wait func(...*time.Time)) {
	if wait(&n.Arrived); !n.Dated { // else it is a time by the project's clock
		wait(&n.Created)
	}
}

func ofReasons(wait func(...*time.Time), all ...*reason.Reason) {
	for _, r := range all {
		wait(&r.Since, &r.Until)
	}
}

func pointers[V any](list []V) (all []*V) {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}
