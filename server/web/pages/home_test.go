package pages

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/ranking"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

// Visitors see a share that is rounded down and whole sentences. Values of zero are left out.
func TestProgress(t *testing.T) {
	of := func(done, total, today, running int64) (st counts.Status) {
		st.Workunits = store.WorkunitCounts{Canonical: done, Total: total}
		st.Results.ValidToday = today
		st.Results.ByServerState = map[string]int64{store.InProgress.String(): running}
		return st
	}
	for _, tt := range []struct {
		name string
		st   counts.Status
		want progress

		sentences []string
	}{
		{"nothing", of(0, 0, 0, 0), progress{}, nil},
		{"the first workunit of many", of(1, 600_000, 1, 21_340), progress{Done: 1, Total: 600_000}, []string{
			"1 result was validated in the last 24 hours.", "21,340 tasks are being computed now.",
		}},
		{"almost all", of(1999, 2000, 7400, 1), progress{Percent: 99, Done: 1999, Total: 2000}, []string{
			"7,400 results were validated in the last 24 hours.", "1 task is being computed now.",
		}},
		{"all", of(5, 5, 0, 0), progress{Percent: 100, Done: 5, Total: 5}, nil},
	} {
		got := progressOf(tt.st)
		var sentences []string
		for _, s := range got.Sentences {
			sentences = append(sentences, s.String())
		}
		if got.Sentences = nil; !reflect.DeepEqual(got, tt.want) || !slices.Equal(sentences, tt.sentences) {
			t.Errorf("%s: got %+v %q, want %+v %q", tt.name, got, sentences, tt.want, tt.sentences)
		}
	}
}

// Accounts and teams are in one list, sorted by recent credit. Those without recent credit are left
// out.
func TestMostActive(t *testing.T) {
	got := mostActive(ranking.Table{
		RecentUsers: []ranking.Entry{{ID: 4, Name: "Ingrid", Recent: 18_904.4}, {ID: 5, Recent: 12}, {ID: 6, Recent: 0.2}},
		RecentTeams: []ranking.Entry{{ID: 1, Name: "Alpine", Recent: 41_200}, {ID: 2, Name: "Gone"}},
	})
	want := []active{{"team?id=1", "Alpine", 41_200}, {"user?id=4", "Ingrid", 18_904}, {"user?id=5", "5", 12}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := mostActive(ranking.Table{}); len(got) > 0 {
		t.Errorf("of nobody: %+v", got)
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 24, 1, 0, 0, 0, time.UTC)
	for day, want := range map[string]string{
		"2026-11-24": "today", "2026-11-23": "yesterday", "2026-11-21": "3 days ago", "2026-11-18": "6 days ago",
		"2026-11-17": "17 Nov", "2026-01-02": "2 Jan", "2025-12-31": "31 Dec 2025",
	} {
		d, err := time.Parse(time.DateOnly, day)
		if got := ago(d, now).String(); err != nil || got != want {
			t.Errorf("%s: got %q, want %q", day, got, want)
		}
	}
}
