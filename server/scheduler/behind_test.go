package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// Two results that a host may have are queued behind results that it may not have, and these are
// more than are read at a time. The host gets the two at once.
func TestWorkBehindOthers(t *testing.T) {
	const many = 1500
	huge := func(wu *store.Workunit) { wu.RscMemoryBound = 1e15 }
	for _, tt := range []struct {
		name  string
		front func(w *world) store.Workunit // the work at the front
	}{
		{"of another platform", func(w *world) store.Workunit {
			wu := w.Workunit("")
			w.update(func(tx *store.Tx) (err error) {
				wu.AppID, err = tx.InsertApp(store.App{Name: "other", Validator: "trivial", Assimilator: "copy"})
				return err
			})
			return wu
		}},
		{"that needs much more memory", func(w *world) store.Workunit {
			wu := w.Workunit("")
			huge(&wu)
			return wu
		}},
		{"that needs a little more memory", func(w *world) store.Workunit {
			wu := w.Workunit("")
			wu.RscMemoryBound = 24e9 // the host allows 22.7e9
			return wu
		}},
		{"for computers of another class", func(w *world) store.Workunit {
			w.choosy(func(a *store.App) { a.HomogeneousRedundancy = 1 })
			wu := w.Workunit("")
			wu.HRClass = 9
			return wu
		}},
		{"kept for another computer", func(w *world) store.Workunit {
			wu := w.Workunit("")
			wu.Batch = 77
			return wu
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			front := tt.front(w)
			w.update(func(tx *store.Tx) error {
				for i := range many {
					wu := front
					wu.Name = fmt.Sprint("front_", i)
					id, err := storetest.InsertWorkunit(tx, wu)
					if err != nil {
						return err
					}
					wu.ID = id
					if front.HRClass != 0 {
						committed := wu
						committed.HRClass = front.HRClass
						wu.HRClass = 0
						if err := tx.SaveWorkunit(wu, committed); err != nil {
							return err
						}
					}
					if front.Batch == 77 {
						if err := tx.ReserveUntil(id, w.now.AddDate(0, 0, 1)); err != nil {
							return err
						}
					}
					if err := tx.AddResult(store.Result{
						WorkunitID: id, AppID: wu.AppID, Name: wu.Name + "_0", ServerState: store.Unsent, Kind: front.Kind(),
					}); err != nil {
						return err
					}
				}
				return nil
			})
			w.addWork("a", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 12e9 })
			w.addWork("b", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 17e9 })
			got := w.first()
			if len(got.Results) != 2 {
				t.Errorf("got %d results, refused %+v; want 2", len(got.Results), got.Refusals)
			}
		})
	}
}

// One fast host gets a result of each workunit of a quorum of two, though it has one of
// thousands already: "has one of this workunit" never ends the search.
func TestOneHostThroughALongQueue(t *testing.T) {
	w := newWorld(t)
	w.s.Config.OneResultPerUserPerWU = true
	const n = 300
	for i := range n {
		w.addWork(fmt.Sprint("w", i), 2, func(wu *store.Workunit) { wu.RscFpopsEst = 1e12 })
	}
	total := 0
	for {
		got := w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 5e3 })
		if len(got.Results) == 0 {
			break
		}
		total += len(got.Results)
		w.update(func(tx *store.Tx) error { // it is computed
			for _, x := range got.Results {
				if err := store.Change(tx.ResultByName, x.Name, tx.SaveResult, func(r *store.Result) {
					r.ServerState, r.Outcome, r.ValidateState = store.Over, store.Success, store.ValidateInit
				}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if total != n {
		t.Errorf("got %d results of %d workunits", total, n)
	}
}

// A hundred hosts with too little memory, of one account, change nothing for others.
func TestPoorHosts(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.addWork(fmt.Sprint("w", i), 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e10 })
	}
	ask := func(host string, memory float64) *protocol.SchedulerReply {
		return w.ask(func(r *protocol.SchedulerRequest) {
			r.CPUReqSeconds, r.Host.MemBytes, r.Host.DomainName, r.Host.HostCPID = 1e6, memory, host, host
		})
	}
	for i := range 100 {
		if got := ask(fmt.Sprint("poor", i), 1e9); len(got.Results) != 0 {
			t.Fatalf("got %d results", len(got.Results))
		}
	}
	if got := ask("rich", 64e9); len(got.Results) != 50 {
		t.Errorf("got %d results, refused %+v; want all 50", len(got.Results), got.Refusals)
	}
	// A project that gives up results that no host can compute does so one by one.
	w = newWorld(t)
	w.s.Config.MaxInfeasible = 3
	for i := range 50 {
		w.addWork(fmt.Sprint("w", i), 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e10 })
	}
	for i := range 100 {
		w.poor(w.account(i, 5), "poor")
	}
	gone := 0
	for i := range 50 {
		if w.result(fmt.Sprintf("w%d_0", i)).ServerState == store.Over {
			gone++
		}
	}
	if gone == 0 || gone > 100/3 {
		t.Errorf("%d results were given up for a hundred accounts, want some, and one for three at most", gone)
	}
}

// A host that reports results gets as many new ones in the same reply, whatever limits there are.
func TestReportAndFetchAtOnce(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"no limit":    func(*world) {},
		"in progress": func(w *world) { w.s.Config.MaxWusInProgress = 1 },
		"a request":   func(w *world) { w.s.Config.MaxWusToSend = 1 },
	} {
		w := newWorld(t)
		change(w)
		w.addWork("a", 1)
		w.addWork("b", 1)
		var reported []protocol.ReportedResult
		for range 2 {
			got := w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds, r.Results = 1, reported })
			if len(got.Results) != 1 {
				t.Fatalf("%s: got %d results after reporting %d, refused %+v", name, len(got.Results), len(reported), got.Refusals)
			}
			reported = []protocol.ReportedResult{{Name: got.Results[0].Name, State: protocol.ClientUploaded}}
		}
	}
}

// Applications share the computing time by their weights, while each has work.
func TestWeights(t *testing.T) {
	w := newWorld(t)
	for i := range 60 {
		w.addWork(fmt.Sprint("light", i), 1)
	}
	w.choosy(func(a *store.App) { a.Weight = 3 })
	for i := range 60 {
		w.addWork(fmt.Sprint("heavy", i), 1)
	}
	count := make(map[string]int)
	for range 40 {
		got := w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1 })
		if len(got.Workunits) != 1 {
			t.Fatalf("got %d workunits, refused %+v", len(got.Workunits), got.Refusals)
		}
		count[got.Workunits[0].Name[:5]]++
	}
	if count["heavy"] < 29 || count["heavy"] > 31 {
		t.Errorf("of 40 tasks %v, want 30 of the application of weight 3", count)
	}
}
