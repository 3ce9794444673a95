package scheduler_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

func TestReports(t *testing.T) {
	w := newWorld(t)
	w.addWork("tt_1117", 1)
	w.addWork("tt_1118", 1)
	host := w.first().HostID
	w.now = w.now.Add(time.Minute)

	got := w.as(host, 1, "07-report-one-ok")
	if want := []string{"tt_1117_0"}; !slices.Equal(got.ResultAcks, want) {
		t.Errorf("acks %v, want %v", got.ResultAcks, want)
	}
	ok := w.result("tt_1117_0")
	if ok.ServerState != store.Over || ok.Outcome != store.Success || ok.ValidateState != store.ValidateInit || !ok.ReceivedTime.Equal(w.now) {
		t.Errorf("good result: %+v", ok)
	}
	if wu := storetest.Get(w.t, w.store, (*store.View).Workunit, ok.WorkunitID); wu.TransitionTime.After(w.now) {
		t.Error("the transitioner is not told")
	}
	w.as(host, 2, "08-report-error")
	if r := w.result("tt_1118_0"); r.Outcome != store.ClientError || r.ValidateState != store.Invalid || r.ExitStatus != 42 {
		t.Errorf("failed result: %+v", r)
	}
	w.now = w.now.Add(time.Minute)
	got = w.as(host, 3, "09-report-again-and-unknown")
	if want := []string{"tt_1117_0", "never_heard_of_0"}; !slices.Equal(got.ResultAcks, want) {
		t.Errorf("acks %v, want %v", got.ResultAcks, want)
	}
	if again := w.result("tt_1117_0"); again != ok {
		t.Errorf("a second report changed the result: %+v", again)
	}
}

// An energy that is impossible in the time of the result is dropped, and the rest of the report counts.
func TestEnergy(t *testing.T) {
	const second = 10_000.0 / 3600 // the most in one
	for said, want := range map[string]float64{
		"1.25": 1.25, fmt.Sprintf("%.9f", 11.4*second): 11.4 * second,
		fmt.Sprint(11.6 * second): 0, "1e300": 0, "-1": 0, "0": 0, "NaN": 0, "Inf": 0, "": 0, "much": 0, "<x>1</x>": 0,
	} {
		w := newWorld(t)
		w.addWork("tt_1117", 1)
		first := w.first()
		w.now = w.now.Add(time.Minute)
		const before = "<final_elapsed_time>11.5</final_elapsed_time>"
		w.as(first.HostID, 1, "07-report-one-ok", before, before+"\n<starling_energy_wh>"+said+"</starling_energy_wh>")
		r := w.result("tt_1117_0")
		if !first.TakesEnergy || math.Abs(r.EnergyWh-want) > 1e-6 || r.Outcome != store.Success || r.ElapsedTime != 11.5 {
			t.Errorf("%q: %t, %+v; want %v Wh", said, first.TakesEnergy, r, want)
		}
	}
}

// A host reports the CPU time, for which a token and a volunteer's credit may count. It is bounded by the
// host's CPUs, of which max_ncpus count, and the time that the host had the result. With several threads, it is
// greater than the elapsed time.
func TestTimes(t *testing.T) {
	for name, c := range map[string]struct {
		ncpus        string
		said         [2]string // CPU time and elapsed time in seconds
		threads      int
		cpu, elapsed float64
	}{
		"one CPU":                         {"1", [2]string{"10.5", "11.5"}, 0, 10.5, 11.5},
		"several threads":                 {"4", [2]string{"40", "11.5"}, 0, 40, 11.5},
		"more than all CPUs":              {"4", [2]string{"80", "11.5"}, 0, 80, 20},
		"more than there was time for":    {"4", [2]string{"1e30", "11.5"}, 0, 240, 60},
		"an impossible elapsed time":      {"4", [2]string{"80", "1e30"}, 0, 80, 60},
		"CPUs that are hard to believe":   {"1000000", [2]string{"1e30", "1e30"}, 0, 64 * 60, 60},
		"CPUs that the project asked for": {"100", [2]string{"1e30", "11.5"}, 128, 100 * 60, 60},
		"no elapsed time":                 {"4", [2]string{"10.5", "0"}, 0, 10.5, 10.5},
		"less than nothing":               {"-1", [2]string{"-10.5", "-11.5"}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.s.Config.MaxNCPUs = 64
			w.s.Config.PlanClasses = map[string]match.PlanClass{"": {MaxThreads: c.threads}}
			w.addWork("tt_1117", 1)
			host := w.first().HostID
			w.now = w.now.Add(time.Minute)
			w.as(host, 1, "07-report-one-ok", "<p_ncpus>2<", "<p_ncpus>"+c.ncpus+"<",
				"<final_cpu_time>10.5<", "<final_cpu_time>"+c.said[0]+"<", "<final_elapsed_time>11.5<", "<final_elapsed_time>"+c.said[1]+"<")
			if r := w.result("tt_1117_0"); math.Abs(r.CPUTime-c.cpu) > 1e-6 || math.Abs(r.ElapsedTime-c.elapsed) > 1e-6 || r.Outcome != store.Success {
				t.Errorf("CPU time %v in %v, want %v in %v", r.CPUTime, r.ElapsedTime, c.cpu, c.elapsed)
			}
		})
	}
}

func TestLateReports(t *testing.T) {
	for _, outcome := range []store.Outcome{store.NoReply, store.ClientDetached} {
		t.Run(outcome.String(), func(t *testing.T) {
			w := newWorld(t)
			w.addWork("tt_1117", 1)
			host := w.first().HostID
			w.update(func(tx *store.Tx) error {
				old, err := tx.ResultByName("tt_1117_0")
				if err != nil {
					return err
				}
				r := old
				r.ServerState, r.Outcome, r.FileDeleteState = store.Over, outcome, store.DeleteDone
				return storetest.SaveResult(tx, old, r)
			})
			w.as(host, 1, "07-report-one-ok")
			if r := w.result("tt_1117_0"); r.Outcome != store.Success || r.FileDeleteState != store.DeleteInit {
				t.Errorf("got %v, files %v; want it accepted and its files to be deleted again", r.Outcome, r.FileDeleteState)
			}
		})
	}
	t.Run("another user's result is acknowledged and left alone", func(t *testing.T) {
		w := newWorld(t)
		w.addWork("tt_1117", 1)
		w.first()
		w.update(func(tx *store.Tx) error {
			u := w.User
			u.EmailAddr, u.Authenticator = "b@example.org", "00000000000000000000000000000002"
			_, err := tx.InsertUser(u)
			return err
		})
		got := w.as(0, 0, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>00000000000000000000000000000002")
		if len(got.ResultAcks) != 1 || w.result("tt_1117_0").ServerState != store.InProgress {
			t.Errorf("acks %v, state %v", got.ResultAcks, w.result("tt_1117_0").ServerState)
		}
	})
}
