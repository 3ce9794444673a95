package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// A quota is of an app version, and ends with the day.
func TestDailyQuota(t *testing.T) {
	w := newWorld(t)
	w.s.Config.DailyResultQuota = 2
	w.addWork("a", 5)
	ask := func() *protocol.SchedulerReply {
		return w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1e6 })
	}
	if got := ask(); len(got.Results) != 2 {
		t.Errorf("%d results, %s", len(got.Results), texts(got))
	}
	w.s.Config.ResendLostResults = false
	if got := ask(); len(got.Results) != 0 || !strings.Contains(texts(got), "finished a daily quota of 2 tasks") {
		t.Errorf("%d results, %s", len(got.Results), texts(got))
	}
	if got := ask(); len(got.Refusals) != 1 || !got.Refusals[0].Until.Equal(w.now.Truncate(24*time.Hour).Add(24*time.Hour)) || !strings.Contains(texts(got), "until midnight UTC") {
		t.Errorf("nothing tells when the quota ends: %+v, %s", got.Refusals, texts(got))
	}
	w.addVersion("x86_64-pc-linux-gnu", 101, false)
	if got := ask(); len(got.Results) != 2 {
		t.Errorf("a new version: %d results, %s", len(got.Results), texts(got))
	}
	w.now = w.now.Add(24 * time.Hour)
	if got := ask(); len(got.Results) != 1 {
		t.Errorf("the next day: %d results, %s", len(got.Results), texts(got))
	}
}

func TestErrorsLowerTheQuota(t *testing.T) {
	w := newWorld(t)
	w.s.Config.DailyResultQuota = 4
	w.addWork("tt_1118", 1)
	host := w.first().HostID
	version := w.result("tt_1118_0").AppVersionID
	quota := func() (n int) {
		w.update(func(tx *store.Tx) error {
			h, err := tx.HostAppVersion(host, version)
			n = h.MaxJobsPerDay
			return err
		})
		return n
	}
	w.as(host, 1, "08-report-error")
	if got := quota(); got != 3 {
		t.Errorf("after an error: %d, want 3", got)
	}
}

// A computer that claims that the project had it abort its results loses its quota like others that fail.
func TestOnlyTheProjectsOrderExcusesAnAbort(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		w := newWorld(t)
		w.s.Config.DailyResultQuota = 4
		w.addWork("tt_1118", 1)
		host := w.first().HostID
		version := w.result("tt_1118_0").AppVersionID
		if ordered {
			w.cancel("tt_1118")
		}
		w.as(host, 1, "08-report-error", "<exit_status>42<", fmt.Sprintf("<exit_status>%d<", protocol.ExitAbortedByProject))
		var h store.HostAppVersion
		w.update(func(tx *store.Tx) (err error) {
			h, err = tx.HostAppVersion(host, version)
			return err
		})
		if r := w.result("tt_1118_0"); r.Outcome != store.ClientError {
			t.Errorf("%+v", r)
		}
		if excused := h.MaxJobsPerDay == 4 && h.ErrorRate == 0; excused != ordered {
			t.Errorf("ordered %v: quota %d, error rate %v", ordered, h.MaxJobsPerDay, h.ErrorRate)
		}
	}
}

// A computer that keeps failing gets work still, but none that must not fail.
func TestABadRecordGetsNoLastChance(t *testing.T) {
	w := newWorld(t)
	w.s.Config.ResendLostResults = false
	ask := func() *protocol.SchedulerReply {
		return w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1 })
	}
	w.addWork("first", 1)
	ask()
	first := w.result("first_0")
	last := func(name string) {
		w.addWork(name, 1)
		w.update(func(tx *store.Tx) error { // as the transitioner does
			return store.Change(tx.WorkunitByName, name, tx.SaveWorkunit, func(now *store.Workunit) {
				now.LastChance = true
			})
		})
	}
	last("last")
	record := func(rate float64) {
		w.update(func(tx *store.Tx) error {
			return tx.SaveHostAppVersion(store.HostAppVersion{HostID: first.HostID, AppVersionID: first.AppVersionID, ErrorRate: rate})
		})
	}
	record(0.9)
	if got := ask(); len(got.Results) != 0 || !strings.Contains(texts(got), "reserved for computers with a good record") {
		t.Errorf("%d results, %s", len(got.Results), texts(got))
	}
	w.addWork("other", 1)
	if got := ask(); len(got.Results) != 1 || got.Results[0].Name != "other_0" {
		t.Errorf("beside other work: %+v, %s", got.Results, texts(got))
	}
	record(0.1)
	if got := ask(); len(got.Results) != 1 || got.Results[0].Name != "last_0" {
		t.Errorf("with a good record: %+v, %s", got.Results, texts(got))
	}
	last("later")
	record(0.9)
	if got := ask(); len(got.Results) != 0 {
		t.Errorf("a bad record got %+v", got.Results)
	}
	w.now = w.now.Add(25 * time.Hour) // no other computer has come
	if got := ask(); len(got.Results) != 1 || got.Results[0].Name != "later_0" {
		t.Errorf("after a day: %+v, %s", got.Results, texts(got))
	}
}

// An urgent result is at the front of the queue, and does not block computers that may not have it.
// A computer that may have it gets less time for it.
func TestUrgentResultsGoToReliableComputers(t *testing.T) {
	w := newWorld(t)
	w.s.Config.ResendLostResults = false
	w.s.Config.Urgent = match.Urgent{OnPriority: 5, ReducedDelayBound: 0.5}
	ask := func() *protocol.SchedulerReply {
		return w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1 })
	}
	w.addWork("first", 1)
	ask()
	first := w.result("first_0")
	bound := first.ReportDeadline.Sub(w.now)
	for i := range 20 { // more than the feeder reads at once
		w.addWork(fmt.Sprint("urgent", i), 1, func(wu *store.Workunit) { wu.Priority = 5 })
	}
	if got := ask(); len(got.Results) != 0 || !strings.Contains(texts(got), "reserved for computers with a good record") {
		t.Errorf("%d results, %s", len(got.Results), texts(got))
	}
	w.addWork("other", 1)
	if got := ask(); len(got.Results) != 1 || got.Results[0].Name != "other_0" {
		t.Errorf("beside other work: %+v, %s", got.Results, texts(got))
	}
	w.update(func(tx *store.Tx) error {
		return tx.SaveHostAppVersion(store.HostAppVersion{HostID: first.HostID, AppVersionID: first.AppVersionID, TurnaroundN: 10})
	})
	if got := ask(); len(got.Results) != 1 || got.Results[0].Name != "urgent0_0" {
		t.Errorf("a reliable computer: %+v, %s", got.Results, texts(got))
	}
	if got := w.result("urgent0_0").ReportDeadline.Sub(w.now); got != bound/2 {
		t.Errorf("it has %v to report it, want half of %v", got, bound)
	}
}
