package agent_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// Properties of the computer that tools set are sent to projects, and survive the agent. Projects
// are asked to answer in the language of the tools.
func TestChangeHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, "http://127.0.0.1:18080/demo_cgi/"), nil)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		if got := w.request(t, 0).Host.ProductName; got != "" || w.spoken() != "" {
			t.Errorf("at first: product %q, language %q", got, w.spoken())
		}
		if err := errors.Join(
			w.a.ChangeHost(t.Context(), func(h *state.Host) {
				h.Product, h.Language, h.GPUMode = "Attic PC", "pt-BR", prefs.Mode{Kind: prefs.Never}
			}),
			w.a.SteerProject(t.Context(), demoURL, control.UpdateProject),
		); err != nil {
			t.Fatal(err)
		}
		w.after(t, time.Hour)
		n := w.count(sched)
		if got := w.request(t, n-1).Host.ProductName; got != "Attic PC" || w.spoken() != "pt-BR" {
			t.Errorf("then: product %q, language %q", got, w.spoken())
		}
		w.stop()
		w.start(t)
		must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
		w.after(t, time.Hour)
		if w.count(sched) == n {
			t.Fatal("no contact after the restart")
		}
		if got := w.request(t, w.count(sched)-1).Host.ProductName; got != "Attic PC" || w.spoken() != "pt-BR" {
			t.Errorf("after a restart: product %q, language %q", got, w.spoken())
		}
		if v, err := w.a.Tools(t.Context()); err != nil || v.GPUMode.Kind != prefs.Never || v.Host.ProductName != "Attic PC" {
			t.Errorf("tools see mode %v, product %q, %v", v.GPUMode, v.Host.ProductName, err)
		}
	})
}

// A data directory that was copied from another computer makes a new host of this one, once, and
// keeps its tasks. On the same computer nothing changes.
func TestCopiedDataDirectory(t *testing.T) {
	t.Parallel()
	if hostinfo.Machine() == "" {
		t.Skip("nothing tells this computer from others")
	}
	for machine, host := range map[string]int64{"": 111, hostinfo.Machine(): 111, "another computer": 0} {
		w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), func(db *state.DB, tx *state.Tx) {
			waiting(db, tx)
			p, _ := db.Projects.Get(demoURL)
			p.Contact.MinRPCTime = time.Time{}
			db.Projects.Put(tx, demoURL, p)
			h, _ := db.Hosts.Get(state.Self)
			h.Machine = machine
			db.Hosts.Put(tx, state.Self, h)
		})
		w.run(func(t *testing.T) {
			w.after(t, time.Second)
			must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
			w.after(t, time.Minute)
			first := w.request(t, 0)
			if first.HostID != host || (first.Host.HostCPID == strings.Repeat("c", 32)) != (host != 0) || len(first.OtherResults) != 1 {
				t.Errorf("from %q: host %d, cpid %s, %d tasks", machine, first.HostID, first.Host.HostCPID, len(first.OtherResults))
			}
			w.stop()
			w.start(t)
			must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
			w.after(t, time.Minute)
			if again := w.request(t, w.count(sched)-1); again.Host.HostCPID != first.Host.HostCPID {
				t.Errorf("from %q: another cpid after a restart", machine)
			}
		})
	}
}

// Tools that look at the disk see its current use when they look again.
func TestToolsSeeTheDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), waiting)
	w.tick = time.Minute // the maximum age of the measurement
	w.run(func(t *testing.T) {
		used := func() int64 {
			t.Helper()
			v, err := w.a.Tools(t.Context())
			must(t, err)
			return v.DiskUsed + v.Projects[0].DiskUsed
		}
		w.after(t, time.Second)
		before := used()
		w.file("large", strings.Repeat("x", 1<<20))
		w.after(t, 70*time.Second)
		_ = used()
		w.after(t, time.Second)
		if got := used(); got < before+1<<20 {
			t.Errorf("%d bytes, and a MB more than %d there are", got, before)
		}
	})
}
