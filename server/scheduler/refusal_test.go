package scheduler_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

func TestWhyNoWork(t *testing.T) {
	plenty := func(w *world) { w.addWork("a", 3); w.addWork("b", 3) }
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		changes []string
		want    string // messages
		sent    int
		delay   time.Duration // 0: any
	}{
		{"nothing to send", func(*world) {}, nil, "low: No tasks sent\nlow: Project has no tasks available", 0, 0},
		{"asked to send none", plenty, []string{"<dont_send_work>0", "<dont_send_work>1"}, "", 0, 0},
		{"no work asked for", plenty, []string{">86400<", ">0<"}, "", 0, 0},
		{
			"another platform", plenty,
			[]string{"x86_64-pc-linux-gnu", "z80-cpm"},
			`notice: _("This project doesn't support computers of type") z80-cpm`, 0, 24 * time.Hour,
		},
		{"an alternative platform", plenty, []string{
			"<platform_name>x86_64-pc-linux-gnu</platform_name>",
			"<platform_name>z80-cpm</platform_name><alt_platform><name>x86_64-pc-linux-gnu</name></alt_platform>",
		}, "", 6, 0},
		{
			"a version only for another platform", func(w *world) {
				w.other()
				w.addVersionOf(w.App.ID+1, "windows_x86_64", 100, false)
			}, nil, "low: No tasks sent\nlow: The only tasks left are of applications without a version for this computer", 0, 0,
		},
		{"no version at all", (*world).other, nil, "low: No tasks sent\nlow: The project has stopped sending tasks of other for now", 0, 0},
		{"the limit an RPC", func(w *world) { plenty(w); w.s.Config.MaxWusToSend = 2 }, nil, "", 4, 0},
		{"the limit counts so many CPUs", func(w *world) { plenty(w); w.s.Config.MaxWusToSend, w.s.Config.MaxNCPUs = 2, 1 }, nil, "", 2, 0},
		{"the limit in progress", func(w *world) { plenty(w); w.s.Config.MaxWusInProgress = 1 }, nil, "", 2, 0},
		{"the daily quota", func(w *world) { plenty(w); w.s.Config.DailyResultQuota = 1 }, nil, "", 2, 0},
		{"one result a user", func(w *world) { plenty(w); w.s.Config.OneResultPerUserPerWU = true }, nil, "", 2, 0},
		{"one result a host", func(w *world) { plenty(w); w.s.Config.OneResultPerHostPerWU = true }, nil, "", 2, 0},
		{"only what fills the request", plenty, []string{">86400<", ">1.5<"}, "", 2, 0},
		{
			"too much memory", func(w *world) { w.addWork("a", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e15 }) },
			nil, "low: No tasks sent\nlow: Tasks need more memory than this computer allows (upper: needs 931322.57 GB, allowed 21.19 GB)", 0, 0,
		},
		{
			"too much disk", func(w *world) { w.addWork("a", 1, func(wu *store.Workunit) { wu.RscDiskBound = 1e18 }) },
			nil, "low: No tasks sent\nlow: Tasks need more disk space than this computer allows (upper: needs 931322574.62 GB, allowed 5.00 GB)", 0, 0,
		},
		{
			"a busy host that would be late", plenty,
			[]string{"<estimated_delay>0.0", "<estimated_delay>9999.0"},
			"low: No tasks sent\nlow: Tasks would not finish in time on this computer (upper: needs 2h46m40s, allowed 1h0m0s)", 0, 0,
		},
		{
			"a workunit that is done", func(w *world) { w.addWork("a", 1); w.cancel("a") }, nil,
			"low: No tasks sent\nlow: Project has no tasks available", 0, 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			got := w.send(capture(t, "01-first-contact-with-work", tt.changes...))
			if texts(got) != tt.want || len(got.Results) != tt.sent || tt.delay != 0 && got.RequestDelay != tt.delay {
				t.Errorf("got %d results, delay %v, %q; want %d, %v, %q",
					len(got.Results), got.RequestDelay, texts(got), tt.sent, tt.delay, tt.want)
			}
		})
	}
}

func TestTooRecent(t *testing.T) {
	w := newWorld(t)
	w.s.Config.MinSendworkInterval = 10
	w.addWork("a", 1)
	host := w.send(capture(t, "01-first-contact-with-work", "<dont_send_work>0", "<dont_send_work>1")).HostID
	w.now = w.now.Add(4 * time.Second)
	got := w.as(host, 1, "15-too-soon-asks-work")
	if texts(got) != "low: Not sending work. Last request too recent. Please wait 6 seconds." || len(got.Results) != 0 {
		t.Errorf("got %d results, %q", len(got.Results), texts(got))
	}
	if len(got.Refusals) != 1 || got.Refusals[0].Until.Before(w.now.Add(6*time.Second)) || got.Refusals[0].Until.After(w.now.Add(8*time.Second)) {
		t.Errorf("nothing tells when it ends: %+v", got.Refusals)
	}
	if got.RequestDelay != 11*time.Second {
		t.Errorf("delay %v, want 11 s", got.RequestDelay)
	}
	w.now = w.now.Add(11 * time.Second)
	if got := w.as(host, 2, "15-too-soon-asks-work"); len(got.Results) != 1 {
		t.Errorf("after the wait: %d results, %q", len(got.Results), texts(got))
	}
}

// other makes the only waiting task one of an application without versions.
func (w *world) other() {
	w.t.Helper()
	w.update(func(tx *store.Tx) error {
		_, err := tx.InsertApp(store.App{Name: "other", Validator: "trivial", Assimilator: "copy"})
		return err
	})
	w.addWork("a", 1, func(wu *store.Workunit) { wu.AppID++ })
	w.update(func(tx *store.Tx) error {
		err := tx.AddResult(store.Result{WorkunitID: 1, AppID: w.App.ID + 1, Name: "x", ServerState: store.Unsent})
		return err
	})
	w.update(func(tx *store.Tx) error {
		return store.Change(tx.ResultByName, "a_0", tx.SaveResult, func(r *store.Result) {
			r.ServerState, r.Outcome = store.Over, store.DidntNeed
		})
	})
}
