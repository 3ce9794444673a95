package console

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/unsendable"
	"github.com/starling-grid/starling/server/web/counts"
)

var now = time.Date(2026, 11, 24, 12, 30, 0, 0, time.UTC)

// counted is a project with work that flows, changed.
func counted(change func(*counts.Status)) (st counts.Status) {
	st.Workunits.Total = 100
	st.Results.ByServerState = map[string]int64{"unsent": 480, "in_progress": 40}
	st.Results.ValidToday = 12
	st.OldestAge = map[string]int64{"unsent": 100_000}
	if change != nil {
		change(&st)
	}
	return st
}

// results are results that were sent and reported so many hours ago, from a computer that errs
// or not.
func results(ago ...int) (all []store.RecentResult) {
	for _, h := range ago {
		at := now.Add(-time.Duration(h) * time.Hour).Unix()
		all = append(all, store.RecentResult{HostID: 1, Created: at, Sent: at, Received: at, ServerState: store.Over, Outcome: store.Success, ValidateState: store.Valid})
	}
	return all
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		name string
		st   counts.Status
		flow flow
		want string
	}{
		{"work flows", counted(nil), flowOf(results(0, 1, 30), now), "Work is flowing"},
		{"nothing was reported ever", counted(nil), flowOf(nil, now), "Work is flowing"},
		{"nothing is reported any more", counted(nil), flowOf(results(3, 4), now), "No results for 3 h"},
		{"nothing is reported as nothing is in progress", counted(func(st *counts.Status) { st.Results.ByServerState = nil }), flowOf(results(3, 4), now), "Nothing to send"},
		{"no work", counted(func(st *counts.Status) { st.Workunits.Total = 0 }), flowOf(nil, now), "No work. Create some: starling-server work create"},
	} {
		if got := verdict(tt.st, tt.flow); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestNeeds(t *testing.T) {
	fails := func(bad, good int64) flow {
		return flow{Failing: []view.Version{{ID: 4, App: "ice", VersionNum: 104, Platform: "windows_x86_64", State: "active", VersionUse: store.VersionUse{Error: bad, Valid: good}}}}
	}
	for _, tt := range []struct {
		name string
		st   counts.Status
		flow flow
		want []need
	}{
		{"all is well, though results have waited to be sent for a day", counted(nil), flow{}, nil},
		{"a version that fails now and then", counted(nil), fails(1, 99), nil},
		{"a version that fails often", counted(nil), fails(212, 428), []need{{
			"ice 1.04 for windows_x86_64 fails on 33 % of its tasks (212 of 640).", "", "results?version-id=4&outcome=client_error", "Show results",
		}}},
		{"a validator that stands still, and results for nobody", counted(func(st *counts.Status) {
			st.Workunits.NeedValidate, st.OldestAge["need_validate"] = 7, 2*3600
			st.Untaken = []unsendable.Finding{{Text: words.Plain("No computer has 64 GB.")}}
		}), flow{}, []need{
			{"Workunits to validate: the oldest has waited 2 h.", "The validator does not run, or fails: see starling-server doctor.", "works?state=validating", "Show them"},
			{"No computer has 64 GB.", "", "results?state=unsent", "Show results"},
		}},
	} {
		if got := needs(tt.st, tt.flow); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestFigures(t *testing.T) {
	got := figures(counted(func(st *counts.Status) {
		st.ByApp = []store.AppCounts{{FullName: "Ice flow", InProgress: 1234}, {FullName: "Idle"}}
	}), flowOf(results(0, 1, 2, 30), now))
	want := []figure{
		{"To send", "480", "160 d of work at the rate of the last 24 hours"},
		{"In progress", "40", "1,234 Ice flow"},
		{"To validate", "0", ""},
		{"Valid in the last 24 hours", "12", "1 the day before"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// Charts of stages can be compared: they have one scale.
func TestOneScale(t *testing.T) {
	all := results(0, 0, 0, 0)
	all[0].Received = 0
	for i := range all[1:] {
		all[i+1].ValidateState = store.Invalid
	}
	f := flowOf(all, now)
	var heights []string
	for _, s := range f.Stages {
		for _, b := range s.Bars {
			heights = append(heights, s.Name, strings.Repeat("|", b.Height/25))
		}
	}
	if got := strings.Join(heights, " "); got != "Created |||| Sent |||| Reported |||" {
		t.Errorf("got %s", got)
	}
}

// A page offers the actions that would change its row.
func TestOfferedActions(t *testing.T) {
	for _, tt := range []struct {
		on   string
		row  any
		want string
	}{
		{"work", &view.Workunit{State: "unfinished"}, "work-cancel work-set"},
		{"work", &view.Workunit{State: "error"}, "work-retry work-undo"},
		{"work", &view.Workunit{State: "canonical"}, ""},
		{"batch", view.Batch{}, "batch-cancel batch-retry batch-set batch-undo"},
		{"result", &view.Result{}, ""},
		{"host", &view.Host{State: "active"}, "host-ban"},
		{"host", &view.Host{State: "banned"}, "host-unban"},
		{"user", &view.User{State: "active"}, "user-ban user-trust user-passwd user-delete"},
		{"user", &view.User{State: "banned", Trusted: true}, "user-unban user-untrust user-passwd user-delete"},
		{"user", &view.User{State: "deleted"}, ""},
	} {
		var got []string
		for _, a := range actionsOf(tt.on, states(tt.row)...) {
			got = append(got, a.Path())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %+v: got %v, want %s", tt.on, tt.row, got, tt.want)
		}
	}
}
