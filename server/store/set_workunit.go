package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/db"
)

// WorkunitSettings are the settings of a workunit that may be changed while it is unfinished.
type WorkunitSettings struct {
	Priority          int64
	MaxErrorResults   int
	MaxTotalResults   int
	MaxSuccessResults int
	DelayBound        time.Duration
	Credit            float64
}

// Settings returns the settings of a workunit.
func (w *Workunit) Settings() WorkunitSettings {
	return WorkunitSettings{w.Priority, w.MaxErrorResults, w.MaxTotalResults, w.MaxSuccessResults, w.DelayBound, w.Credit}
}

// Set replaces the settings of a workunit.
func (w *Workunit) Set(s WorkunitSettings) {
	w.Priority, w.MaxErrorResults, w.MaxTotalResults, w.MaxSuccessResults = s.Priority, s.MaxErrorResults, s.MaxTotalResults, s.MaxSuccessResults
	w.DelayBound, w.Credit = s.DelayBound, s.Credit
}

var setWorkunit = workunitColumns.Save("workunit",
	"priority, max_error_results, max_total_results, max_success_results, delay_bound, credit", "",
	`canonical_resultid, error_mask, priority, max_error_results, max_total_results, max_success_results, delay_bound,
	credit`,
	"transition_time = CASE WHEN transition_time < ? THEN transition_time ELSE ? END", "history = history || ?")

var setPriorityOf = db.Change(`UPDATE result SET priority = $2 WHERE workunitid = $1 AND +server_state <= 2`)

// SetWorkunit changes the settings of an unfinished workunit, and the priority of its unsent
// results. The transitioner looks at the workunit at now. It returns ErrLost if the workunit has an
// outcome, or its settings differ from old.
func (t *Tx) SetWorkunit(old Workunit, s WorkunitSettings, now time.Time) error {
	if old.CanonicalResultID != 0 || old.ErrorMask != 0 {
		return fmt.Errorf("workunit %s: %w", old.Name, ErrLost)
	}
	w := old
	w.Set(s)
	var m move
	m.number("priority", old.Priority, s.Priority)
	m.number("max_error_results", int64(old.MaxErrorResults), int64(s.MaxErrorResults))
	m.number("max_total_results", int64(old.MaxTotalResults), int64(s.MaxTotalResults))
	m.number("max_success_results", int64(old.MaxSuccessResults), int64(s.MaxSuccessResults))
	m.number("delay_bound", int64(old.DelayBound/time.Second), int64(s.DelayBound/time.Second))
	m.text("credit", words.Float(old.Credit), words.Float(s.Credit))
	save, args := setWorkunit.Of(&old, &w, unix(now), unix(now), t.cause.line(string(m.b)))
	err := t.execOne(save, args...)
	if err == nil && s.Priority != old.Priority {
		err = t.run(setPriorityOf, old.ID, s.Priority)
	}
	if err == nil && w.Kind() != old.Kind() {
		err = t.run(setKindOf, old.ID, w.Kind())
	}
	if err != nil {
		return fmt.Errorf("workunit %s: %w", old.Name, err)
	}
	return nil
}
