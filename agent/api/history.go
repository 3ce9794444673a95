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
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/state"
)

// maxLook is the maximum number of records read for one page, so that a search for something rare
// does not block the loop.
const maxLook = 2000

// History returns a page of the tasks that have ended, the last first.
func (a *API) History(ctx context.Context, q control.HistoryQuery) (h control.History, err error) {
	errSee := a.core.See(ctx, func() { h, err = history(a.core.DB, q, words.LanguageOf(ctx)) })
	return h, errors.Join(errSee, err)
}

// Timeline returns a page of the computer's activities, the latest first.
func (a *API) Timeline(ctx context.Context, q control.HistoryQuery) (t control.Timeline, err error) {
	errSee := a.core.See(ctx, func() { t, err = timeline(a.core.DB, q, time.Now(), words.LanguageOf(ctx)) })
	return t, errors.Join(errSee, err)
}

// OfflineHistory returns the History of an agent that is not running. It returns state.ErrInUse if
// one is.
func OfflineHistory(ctx context.Context, dataDir string, q control.HistoryQuery) (h control.History, err error) {
	err = fromFile(dataDir, func(db *state.DB) (err error) {
		h, err = history(db, q, words.LanguageOf(ctx))
		return err
	})
	return h, err
}

// OfflineTimeline does the same for its Timeline, which ends where the agent was last seen.
func OfflineTimeline(ctx context.Context, dataDir string, q control.HistoryQuery) (t control.Timeline, err error) {
	err = fromFile(dataDir, func(db *state.DB) (err error) {
		t, err = timeline(db, q, time.Time{}, words.LanguageOf(ctx))
		return err
	})
	return t, err
}

// fromFile calls read with the state of an agent that is not running. If none has ever run, the
// state is empty.
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

// most returns the maximum number of entries in a page.
func most(q control.HistoryQuery) int {
	if q.Limit <= 0 || q.Limit > control.MaxHistoryPage {
		return control.MaxHistoryPage
	}
	return q.Limit
}

func history(db *state.DB, q control.HistoryQuery, l words.Language) (control.History, error) {
	h := control.History{Tasks: []control.HistoryTask{}}
	looked, last := 0, uint64(0)
	err := db.Ended(q.Before, func(n uint64, e state.EndedTask) bool {
		if looked == maxLook || len(h.Tasks) == most(q) {
			h.Next = last
			return false
		}
		if (q.Project == "" || e.Project == q.Project) && (q.Task == "" || e.Name == q.Task) && !e.Finished.Before(q.Since) {
			if t := view.HistoryTask(db, e, l); t.Matches(q.Search) {
				h.Tasks = append(h.Tasks, t)
			}
		}
		looked, last = looked+1, n
		return true
	})
	return h, err
}

// timeline uses now as the end of an open span. A zero now means that no agent runs.
func timeline(db *state.DB, q control.HistoryQuery, now time.Time, l words.Language) (control.Timeline, error) {
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
		if v := view.Span(s, now, l); !v.End.Before(q.Since) {
			t.Spans = append(t.Spans, v)
		}
		looked, last = looked+1, n
		return true
	})
	return t, err
}
