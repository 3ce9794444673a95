package api_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/state"
)

// Pages have the requested entries, once and in order, however rare they are among the rest.
func TestPagesOfTheHistory(t *testing.T) {
	dir := t.TempDir()
	if h, err := api.OfflineHistory(t.Context(), dir, control.HistoryQuery{}); err != nil || h.Tasks == nil || len(h.Tasks) > 0 || h.Next != 0 {
		t.Errorf("where no agent ever ran: %+v, %v", h, err)
	}
	db, err := state.Open(filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	const n = 5000
	statetest.Update(t, db, func(tx *state.Tx) {
		for i := range n {
			e := state.EndedTask{Project: "http://p.example/", Name: fmt.Sprint("r_", i), Received: noon, Finished: noon.Add(time.Duration(i) * time.Minute)}
			if i%2000 == 0 {
				e.Project, e.Outcome, e.Text = "http://rare.example/", state.TaskFailed, "Its application crashed (signal 11)."
			}
			db.End(tx, e)
		}
	})
	if _, err := api.OfflineHistory(t.Context(), dir, control.HistoryQuery{}); !errors.Is(err, state.ErrInUse) {
		t.Errorf("beside an agent: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		q     control.HistoryQuery
		first string
		want  int
		pages int
	}{
		{"all", control.HistoryQuery{}, "r_4999", n, n / control.MaxHistoryPage},
		{"more than a page may have", control.HistoryQuery{Limit: n}, "r_4999", n, n / control.MaxHistoryPage},
		{"a project", control.HistoryQuery{Project: "http://rare.example/"}, "r_4000", 3, 3},
		{"a task", control.HistoryQuery{Task: "r_7"}, "r_7", 1, 3},
		{"a time", control.HistoryQuery{Since: noon.Add(4990 * time.Minute)}, "r_4999", 10, 3},
		{"words in any order and case", control.HistoryQuery{Search: " SIGNAL failed r_2"}, "r_2000", 1, 3},
		{"a word that is nowhere", control.HistoryQuery{Search: "failed nowhere"}, "", 0, 3},
		{"nothing", control.HistoryQuery{Task: "r_x"}, "", 0, 3},
	} {
		var all []control.HistoryTask
		pages := 0
		for more := true; more; pages++ {
			h, err := api.OfflineHistory(t.Context(), dir, tt.q)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h.Tasks...)
			tt.q.Before, more = h.Next, h.Next > 0
		}
		first := ""
		if len(all) > 0 {
			first = all[0].Name
		}
		if len(all) != tt.want || first != tt.first || pages != tt.pages {
			t.Errorf("%s: %d tasks on %d pages, first %q; want %d, %d, %q", tt.name, len(all), pages, first, tt.want, tt.pages, tt.first)
		}
		for i := range len(all) - 1 {
			if !all[i+1].Finished.Before(all[i].Finished) {
				t.Fatalf("%s: %s after %s", tt.name, all[i+1].Name, all[i].Name)
			}
		}
	}
}
