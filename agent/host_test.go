package agent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// What tools say of the computer is told to projects, who are asked to answer in the
// language of the tools, and outlasts the agent.
func TestChangeHost(t *testing.T) {
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
		if err := w.a.SteerProject(t.Context(), demoURL, control.UpdateProject); err != nil {
			t.Fatal(err)
		}
		w.after(t, time.Hour)
		if w.count(sched) == n {
			t.Fatal("no contact after the restart")
		}
		if got := w.request(t, w.count(sched)-1).Host.ProductName; got != "Attic PC" || w.spoken() != "pt-BR" {
			t.Errorf("after a restart: product %q, language %q", got, w.spoken())
		}
		if v, err := w.a.View(t.Context()); err != nil || v.GPUMode.Kind != prefs.Never || v.Host.ProductName != "Attic PC" {
			t.Errorf("tools see mode %v, product %q, %v", v.GPUMode, v.Host.ProductName, err)
		}
	})
}
