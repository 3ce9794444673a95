package api

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/state"
)

// maxLook is how many records are read for one page, so that the loop is not held up by
// somebody who looks for what is rare.
const maxLook = 2000

// History returns a page of the tasks that have ended, the last first.
func (a *API) History(ctx context.Context, q control.HistoryQuery) (h control.History, err error) {
	errSee := a.core.See(ctx, func() { h, err = history(a.core.DB, q) })
	return h, errors.Join(errSee, err)
}

// Timeline returns a page of what the computer did, the latest first.
func (a *API) Timeline(ctx context.Context, q control.HistoryQuery) (t control.Timeline, err error) {
	errSee := a.core.See(ctx, func() { t, err = timeline(a.core.DB, q, time.Now()) })
	return t, errors.Join(errSee, err)
}

// OfflineHistory is the History of an agent that is not running. It returns state.ErrInUse
// when one is.
func OfflineHistory(dataDir string, q control.HistoryQuery) (h control.History, err error) {
	err = fromFile(dataDir, func(db *state.DB) (err error) {
		h, err = history(db, q)
		return err
	})
	return h, err
}

// OfflineTimeline is likewise its Timeline, which ends where the agent was last seen.
func OfflineTimeline(dataDir string, q control.HistoryQuery) (t control.Timeline, err error) {
	err = fromFile(dataDir, func(db *state.DB) (err error) {
		t, err = timeline(db, q, time.Time{})
		return err
	})
	return t, err
}

// fromFile has read look at the state of an agent that is not running; where none has ever
// run, at an empty one.
func fromFile(dataDir string, read func(*state.DB) error) error {
	db, err := state.OpenReadOnly(filepath.Join(dataDir, core.StateFile))
	if errors.Is(err, os.ErrNotExist) {
		return read(new(state.DB))
	} else if err != nil {
		return err
	}
	defer db.Close()
	return read(db)
}

// most is how many a page has.
func most(q control.HistoryQuery) int {
	if q.Limit <= 0 || q.Limit > control.MaxHistoryPage {
		return control.MaxHistoryPage
	}
	return q.Limit
}

func history(db *state.DB, q control.HistoryQuery) (control.History, error) {
	h := control.History{Tasks: []control.HistoryTask{}}
	looked, last := 0, uint64(0)
	err := db.Ended(q.Before, func(n uint64, e state.EndedTask) bool {
		if looked == maxLook || len(h.Tasks) == most(q) {
			h.Next = last
			return false
		}
		if (q.Project == "" || e.Project == q.Project) && (q.Task == "" || e.Name == q.Task) && !e.Finished.Before(q.Since) {
			if t := view.HistoryTask(e); t.Matches(q.Search) {
				h.Tasks = append(h.Tasks, t)
			}
		}
		looked, last = looked+1, n
		return true
	})
	return h, err
}

// timeline takes now for the end of what lasts; zero: no agent runs.
func timeline(db *state.DB, q control.HistoryQuery, now time.Time) (control.Timeline, error) {
	t := control.Timeline{Spans: []control.Span{}}
	looked, last := 0, uint64(0)
	err := db.Spans(q.Before, func(n uint64, s state.Span) bool {
		if looked == maxLook || len(t.Spans) == most(q) {
			t.Next = last
			return false
		}
		if s.Open && now.IsZero() {
			s.Open, s.End = false, db.Certain(s)
		}
		if v := view.Span(s, now); !v.End.Before(q.Since) {
			t.Spans = append(t.Spans, v)
		}
		looked, last = looked+1, n
		return true
	})
	return t, err
}
