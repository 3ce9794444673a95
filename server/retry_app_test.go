package server_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

// After a validator is mended or replaced, it compares results at once that it could not compare before.
func TestRetryApp(t *testing.T) {
	t.Parallel()
	for name, retry := range map[string]func(w *world) error{
		"mended": func(w *world) error {
			w.must(os.WriteFile(filepath.Join(w.dir, "check.sh"), []byte(`echo '{"canonical": "wu_0", "results": {"wu_0": "valid"}}'`), 0o600))
			n, err := operate.RetryApp(w.t.Context(), w.p, "upper", w.now())
			if n != 1 {
				w.t.Errorf("%d workunits are tried again, want 1", n)
			}
			return err
		},
		"replaced": func(w *world) error {
			return operate.SetApp(w.t.Context(), w.p, "upper", func(a *operate.NewApp) { a.Validator = "bitwise" }, w.now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.must(os.WriteFile(filepath.Join(w.dir, "check.sh"), []byte("exit 7\n"), 0o600))
			w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "exec:sh ./check.sh", Assimilator: "copy"}, w.now()))
			w.version("1.00")
			w.create(workgen.Params{Name: "wu"}, "hello")
			c := &client{w: w, key: w.user("a@example.org"), name: "a"}
			c.compute(c.fetch())
			w.create(workgen.Params{Name: "other", MinQuorum: 2}, "hello")
			c.compute(c.fetch())
			if wu := storetest.Get(t, w.p.Store, (*store.View).WorkunitByName, "wu"); wu.NeedValidate || !wu.TransitionTime.After(w.now()) {
				t.Fatalf("got %+v, want a workunit that waits", wu)
			}
			w.must(retry(w))
			w.step()
			if text, _ := w.outcome("wu"); text != "HELLO" {
				t.Errorf("the outcome is %q", text)
			}
		})
	}
}
