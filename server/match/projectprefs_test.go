package match_test

import (
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/projectprefs"
	"github.com/starling-grid/starling/server/store"
)

// A host gets only work that its volunteer accepts from the project, and the reply names the work
// that the volunteer rejects.
func TestWishes(t *testing.T) {
	inProgress := func(w *world) { w.standing.InProgress = map[string]int{"": 2} }
	for _, tt := range []struct {
		name    string
		wishes  projectprefs.Prefs
		prepare func(w *world)
		given   []int64
		want    protocol.Refusal // Code "": none
	}{
		{name: "nothing is said", given: []int64{1, 2}},
		{name: "the application is wanted", wishes: projectprefs.Prefs{Apps: []int64{1}}, given: []int64{1, 2}},
		{
			name: "another application is wanted", wishes: projectprefs.Prefs{Apps: []int64{2}},
			want: protocol.Refusal{Code: protocol.RefusedPreferences, App: "upper", Count: 2, Detail: "leave out this application"},
		},
		{
			name: "the CPUs are not to be used", wishes: projectprefs.Prefs{Without: []string{projectprefs.CPUs}},
			want: protocol.Refusal{Code: protocol.RefusedPreferences, App: "upper", Count: 2, Detail: "exclude CPUs"},
		},
		{name: "GPUs are not to be used", wishes: projectprefs.Prefs{Without: []string{"NVIDIA"}}, given: []int64{1, 2}},
		{name: "one more task is wanted", wishes: projectprefs.Prefs{MaxTasks: 3}, prepare: inProgress, given: []int64{1}},
		{
			name: "no more tasks are wanted", wishes: projectprefs.Prefs{MaxTasks: 2}, prepare: inProgress,
			want: protocol.Refusal{Code: protocol.RefusedPreferences, Need: 3, Have: 2, Detail: "limit tasks in progress on a computer"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.facts.Wishes = tt.wishes
			w.facts.Request.CPUReqInstances = 2
			for range 2 {
				w.add(func(c *store.Candidate) { c.DelayBound = 100 * time.Hour })
			}
			if tt.prepare != nil {
				tt.prepare(w)
			}
			m, given := w.assign()
			if !slices.Equal(given, tt.given) {
				t.Errorf("given %v, want %v", given, tt.given)
			}
			if tt.want.Code != "" && !slices.Contains(m.Refusals(), tt.want) {
				t.Errorf("refused %+v, want %+v", m.Refusals(), tt.want)
			}
		})
	}
}
