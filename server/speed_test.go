package server_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

// The operator's estimate is an hour on a computer of 1 GFLOPS, but the work takes ten. The project
// learns this and corrects the estimates sent to hosts, the amount of work for the time they ask
// for, and the work that they can finish by the deadline.
func TestAnEstimateThatIsWrongByTenIsPutRight(t *testing.T) {
	t.Parallel()
	const really = 10 * time.Hour
	for _, tt := range []struct {
		name  string
		hosts int
		each  int // results that each of them does
		asks  func(w *world, clients []*client) *client
		flops float64
	}{
		{"of the host itself", 1, 10, func(_ *world, c []*client) *client { return c[0] }, 1e8},
		{
			"of the version, for a new host", 5, 1,
			func(w *world, _ []*client) *client {
				return &client{w: w, key: w.user("new@example.org"), name: "new", took: really}
			}, 1e8,
		},
		{
			"of the version, for a new host that is faster", 5, 1,
			func(w *world, _ []*client) *client {
				return &client{w: w, key: w.user("new@example.org"), name: "new", took: really, fpops: 2e9}
			}, 2e8,
		},
		{
			"of the version before, for its successor", 5, 1,
			func(w *world, _ []*client) *client {
				w.version("1.01")
				return &client{w: w, key: w.user("new@example.org"), name: "new", took: really}
			}, 1e8,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.setUp()
				w.createAll(tt.hosts*tt.each+9, workgen.Params{RscFpopsEst: 3.6e12, DelayBound: 86400})
				var clients []*client
				for i := range tt.hosts {
					c := &client{w: w, key: w.user(fmt.Sprintf("%d@example.org", i)), name: fmt.Sprint(i), took: really}
					for n := range tt.each {
						work := c.fetch()
						if len(work.Results) != 1 {
							t.Fatalf("host %d got %d results", i, len(work.Results))
						}
						if flops := work.AppVersions[0].Flops; n == 0 && flops != 1e9 {
							t.Fatalf("before anything is known: %v operations a second, want 1e9", flops)
						}
						time.Sleep(really + time.Minute)
						c.compute(work)
					}
					clients = append(clients, c)
				}
				time.Sleep(time.Minute)
				labels := `{app="upper",plan_class="",platform="x86_64-pc-linux-gnu",version="1.00"}`
				if page := w.metrics(); !strings.Contains(page, fmt.Sprintf("starling_app_version_hosts%s %d\n", labels, tt.hosts)) ||
					!strings.Contains(page, "starling_app_version_stretch"+labels+" 9.8") {
					t.Errorf("not told by /metrics: %s", page)
				}
				c := tt.asks(w, clients)
				takes := time.Duration(3.6e12 / tt.flops * float64(time.Second))
				asked := c.rpc(takes.Seconds() * 1.5)
				if len(asked.Results) != 2 {
					t.Fatalf("%d results for the time of one and a half", len(asked.Results))
				}
				if got := asked.AppVersions[0].Flops; math.Abs(got/tt.flops-1) > 0.2 {
					t.Errorf("told %v operations a second, want %v", got, tt.flops)
				}
				if got := w.result(asked.Results[0].Name).FlopsEstimate; math.Abs(got/asked.AppVersions[0].Flops-1) > 1e-9 {
					t.Errorf("flops_estimate is %v, the host was told %v", got, asked.AppVersions[0].Flops)
				}
				c.have = asked.Results
				c.queued = 24*time.Hour - takes*12/10
				if got := c.fetch(); len(got.Results) != 1 {
					t.Errorf("what ends in time by 20 %% is not sent: %v", got.Messages)
				}
				c.queued = 24*time.Hour - takes*8/10
				got := c.fetch()
				if len(got.Results) != 0 || len(got.Refusals) != 1 || got.Refusals[0].Code != protocol.RefusedDeadline {
					t.Errorf("what ends too late by 20 %%: %d results, %+v", len(got.Results), got.Refusals)
				}
			})
		})
	}
}

// createAll makes n workunits at once.
func (w *world) createAll(n int, params workgen.Params) {
	w.t.Helper()
	g, err := operate.Generator(w.t.Context(), w.p, "upper", w.now())
	w.must(err)
	in := workgen.Given{Path: w.file("in", "hello"), Logical: "in"}
	specs := make([]workgen.Spec, n)
	for i := range specs {
		specs[i] = workgen.Spec{Params: params, Inputs: []workgen.Given{in}}
	}
	_, err = g.Create(w.t.Context(), specs, w.now())
	w.must(err)
	w.step()
}

func (w *world) result(name string) store.Result {
	w.t.Helper()
	return storetest.Get(w.t, w.p.Store, (*store.View).ResultByName, name)
}

// Hosts whose results are wrong teach nothing.
func TestOnlyValidResultsTeach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.setUp()
		w.create(workgen.Params{Name: "wu", MinQuorum: 2, RscFpopsEst: 3.6e12}, "hello")
		var clients []*client
		for i, wrong := range []string{"bogus", "", ""} {
			c := &client{w: w, key: w.user(fmt.Sprintf("%d@example.org", i)), name: fmt.Sprint(i), wrong: wrong, took: time.Hour}
			work := c.fetch()
			time.Sleep(2 * time.Hour)
			c.compute(work)
			clients = append(clients, c)
		}
		w.must(w.p.Store.View(t.Context(), func(tx *store.View) error {
			for i, c := range clients {
				list, err := tx.HostAppVersions(c.host)
				if err != nil || len(list) != 1 {
					return fmt.Errorf("host %d: %v, %w", i, list, err)
				}
				h := list[0]
				if (h.Elapsed.N == 1) != (c.wrong == "") || (h.Vote == 100) != (c.wrong == "") {
					t.Errorf("host %d: %+v", i, h)
				}
				good := h.TurnaroundN == 1 && h.Turnaround >= 7200 && h.Turnaround < 7300 && h.ErrorRate == 0
				bad := h.TurnaroundN == 0 && h.ErrorRate == 0.1
				if c.wrong == "" && !good || c.wrong != "" && !bad {
					t.Errorf("record of host %d: %+v", i, h)
				}
			}
			return nil
		}))
	})
}
