package storetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/forecast"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// forecasts rest on the computers that were active, how fast they were with the application, and
// the work ahead.
func forecasts(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	now := T0.Add(time.Hour)
	const mt = "mt"
	rules := match.Rules{PlanClasses: map[string]match.PlanClass{mt: {MaxThreads: 4}, "gpu": {GPU: match.GPU{GPUType: "nvidia"}}}}
	other := store.App{CreateTime: T0, Name: "other", Validator: "trivial", Assimilator: "copy", Weight: 3}
	var plain int64
	Update(t, s, func(tx *store.Tx) (err error) {
		p, err := tx.EnsurePlatform(store.Platform{Name: "linux"}, T0)
		if err != nil {
			return err
		}
		if plain, err = tx.InsertAppVersion(store.AppVersion{AppID: w.App.ID, VersionNum: 100, Platform: p, XMLDoc: "-"}); err != nil {
			return err
		}
		if _, err = tx.InsertAppVersion(store.AppVersion{AppID: w.App.ID, VersionNum: 100, Platform: p, PlanClass: mt, XMLDoc: "-"}); err != nil {
			return err
		}
		if other.ID, err = tx.InsertApp(other); err != nil {
			return err
		}
		_, err = tx.InsertAppVersion(store.AppVersion{AppID: other.ID, VersionNum: 100, Platform: p, PlanClass: "gpu", XMLDoc: "-"})
		return err
	})
	owner := w.User.ID
	host := func(change func(*store.Host)) (id int64) {
		Update(t, s, func(tx *store.Tx) (err error) {
			h := store.Host{CreateTime: T0, UserID: owner}
			if id, err = tx.InsertHost(h); err != nil {
				return err
			}
			h.ID = id
			x := h
			x.RPCTime, x.NCPUs, x.Fpops, x.Platforms, x.UsableMemory, x.UsableDisk, x.Unsuited = T0, 8, 1e9, "linux", math.Inf(1), math.Inf(1), mt
			change(&x)
			return tx.UpdateHost(h, x)
		})
		return id
	}
	ask := func(p forecast.Plan) (q forecast.Question) {
		p.Turn.AppID = w.App.ID
		view(t, s, func(tx *store.View) (err error) {
			q, err = forecast.Look(tx, p, &rules, now)
			return err
		})
		return q
	}
	host(func(h *store.Host) { h.RPCTime = now.Add(-forecast.Window - time.Second) })
	host(func(h *store.Host) { h.Platforms = "windows" })
	host(func(h *store.Host) { h.MaxResultsDay = -1 })
	if q := ask(forecast.Plan{}); len(q.Computers) != 0 || q.Stopped || q.Weight != 1 {
		t.Errorf("nobody can compute it: %+v", q)
	}
	onGPUs := func() bool {
		q, err := store.Read(t.Context(), s, func(tx *store.View) (forecast.Question, error) {
			return forecast.Look(tx, forecast.Plan{Turn: store.Turn{AppID: other.ID}}, &rules, now)
		})
		if err != nil || len(q.Computers) > 0 {
			t.Errorf("on GPUs: %+v, %v", q, err)
		}
		return q.Unmeasured
	}
	if onGPUs() {
		t.Error("no computer may have a GPU")
	}
	host(func(h *store.Host) { h.UsableMemory, h.OnFrac, h.ActiveFrac = 1e9, 0.5, 0.5 })
	tried := host(func(h *store.Host) { h.Unsuited = "" })
	Update(t, s, func(tx *store.Tx) error {
		return tx.SaveHostAppVersion(store.HostAppVersion{HostID: tried, AppVersionID: plain, Turnaround: 3600, Elapsed: speed.Average{N: 5, Mean: 1.0 / 3e9}})
	})
	q := ask(forecast.Plan{Memory: 1e9})
	if !onGPUs() {
		t.Error("computers may have GPUs")
	}
	if len(q.Computers) != 2 {
		t.Fatalf("got %+v, want two computers", q.Computers)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) <= want/1e9 }
	if a, b := q.Computers[0], q.Computers[1]; !near(a.Flops, 2e9) || !near(a.Task, 1e9) || a.Turnaround != 0 || !near(b.Flops, 24e9) || !near(b.Task, 3e9) || b.Turnaround != time.Hour {
		t.Errorf("got %+v", q.Computers)
	}
	for _, tt := range []struct {
		once   match.Once
		quorum int
		few    bool
	}{
		{match.Once{}, 3, false},
		{match.Once{OneResultPerHostPerWU: true}, 2, false},
		{match.Once{OneResultPerHostPerWU: true}, 3, true},
		{match.Once{OneResultPerUserPerWU: true}, 1, false},
		{match.Once{OneResultPerUserPerWU: true}, 2, true},
	} {
		rules.Once = tt.once
		if q := ask(forecast.Plan{Quorum: tt.quorum}); q.Few != tt.few {
			t.Errorf("%+v, a quorum of %d: %t, want %t", tt.once, tt.quorum, q.Few, tt.few)
		}
	}
	rules.Once = match.Once{}
	if q := ask(forecast.Plan{Memory: 2e9}); len(q.Computers) != 1 {
		t.Errorf("with too little memory: %+v", q.Computers)
	}

	add := func(name string, batch, priority int64, app int64, results int) store.Workunit {
		wu := w.Workunit(name)
		wu.Batch, wu.Priority, wu.AppID, wu.TargetNResults, wu.RscFpopsEst = batch, priority, app, results, 1e12
		wu, _ = Add(t, s, wu, results)
		return wu
	}
	add("before", 0, 0, w.App.ID, 2)
	add("urgent", 0, 5, w.App.ID, 1)
	add("patient", 0, -1, w.App.ID, 1)
	add("other", 0, 0, other.ID, 1)
	if q := ask(forecast.Plan{}); !near(q.Ahead, 3e12) || len(q.Others) != 1 || !near(q.Others[0].Flops, 1e12) || q.Others[0].Weight != 3 {
		t.Errorf("got %+v", q)
	}
	if q := ask(forecast.Plan{Turn: store.Turn{Priority: 1}}); !near(q.Ahead, 1e12) {
		t.Errorf("with a priority: got %+v", q)
	}

	var tokens [2]store.Token // one has three times the weight of the other
	for i := range tokens {
		tokens[i] = store.Token{CreateTime: T0, Name: fmt.Sprint("t", i), Hash: fmt.Sprint(i), Weight: float64(1 + 2*i)}
		Update(t, s, func(tx *store.Tx) (err error) {
			tokens[i].ID, err = tx.InsertToken(tokens[i])
			return err
		})
	}
	of := func(name string, token store.Token, own int64) {
		wu := w.Workunit(name)
		wu.TokenID, wu.OwnPriority, wu.TargetNResults, wu.RscFpopsEst, wu.Priority = token.ID, own, 1, 1e12, -2
		Add(t, s, wu, 1)
	}
	of("own", tokens[0], 0)
	of("own, later", tokens[0], -1)
	of("the other's", tokens[1], -9)
	q = ask(forecast.Plan{Flops: 1e11, Turn: store.Turn{Priority: -2, TokenID: tokens[0].ID}})
	if !near(q.Ahead, 5e12) || q.Share != 1 || len(q.Peers) != 1 || q.Peers[0] != (forecast.Work{Flops: 1e12, Weight: 3}) {
		t.Errorf("of a token: got %+v", q)
	}

	done := add("done", 7, 0, w.App.ID, 1)
	add("left", 7, 0, w.App.ID, 2)
	add("after", 0, 0, w.App.ID, 1)
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.AppByName, other.Name, tx.SaveApp, func(a *store.App) { a.Deprecated = true })
	})
	batch := func() (f forecast.Forecast) {
		view(t, s, func(tx *store.View) (err error) {
			f, err = forecast.Batch(tx, 7, &rules, now)
			return err
		})
		return f
	}
	rate := 26e9
	if f := batch(); f.Basis != forecast.Computers || f.Computers != 2 || !near(f.Rate, rate) || !near(f.Wait.Seconds(), 3e12/rate) || f.Left != f.Wait+time.Hour {
		t.Errorf("the batch: %+v", f)
	}
	after := done
	after.ErrorMask = store.ErrorCancelled
	Update(t, s, func(tx *store.Tx) error {
		left, err := tx.BatchLeft(7)
		if err == nil && (left.Workunits != 2 || !near(left.Flops, 3e12)) {
			t.Errorf("left are %+v", left)
		}
		if err := tx.SaveWorkunit(done, after); err != nil {
			return err
		}
		left, err = tx.BatchLeft(7)
		if left.Workunits != 1 || !near(left.Flops, 2e12) || left.Turn.AppID != w.App.ID {
			t.Errorf("left are %+v", left)
		}
		return err
	})

	// A batch for a computer, an account or a team is computed by theirs.
	Update(t, s, func(tx *store.Tx) (err error) {
		u := store.User{CreateTime: T0, EmailAddr: "m@example.org", Authenticator: "00000000000000000000000000000002", CrossProjectID: "d"}
		if u.ID, err = tx.InsertUser(u); err != nil {
			return err
		}
		owner = u.ID
		u.TeamID, err = tx.InsertTeam(store.Team{CreateTime: T0, Name: "team", UserID: u.ID})
		if err != nil {
			return err
		}
		return store.Change(tx.User, u.ID, tx.SaveUser, func(x *store.User) { x.TeamID = u.TeamID })
	})
	host(func(*store.Host) {})
	for i, tt := range []struct {
		target store.Target
		want   int
	}{
		{store.Target{}, 3},
		{store.Target{Type: store.TargetHost, ID: tried}, 1},
		{store.Target{Type: store.TargetUser, ID: owner}, 1},
		{store.Target{Type: store.TargetUser, ID: w.User.ID}, 2},
		{store.Target{Type: store.TargetTeam, ID: 1}, 1},
		{store.Target{Type: store.TargetTeam, ID: 2}, 0},
	} {
		wu := w.Workunit(fmt.Sprint("for ", i))
		wu.Batch, wu.Target = int64(100+i), tt.target
		Add(t, s, wu, 1)
		view(t, s, func(tx *store.View) error {
			f, err := forecast.Batch(tx, wu.Batch, &rules, now)
			if f.Computers != tt.want {
				t.Errorf("a batch for %v: %d computers, want %d", tt.target, f.Computers, tt.want)
			}
			return err
		})
	}
}
