package agent_test

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// A detach and an attach are atomic, even if account files are read at the same time: no file
// counts as lost.
func TestDetachingWhileFilesAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_ = w.a.Reload(t.Context())
					}
				}
			})
		}
		defer readers.Wait()
		defer close(stop)
		for range 60 {
			must(t, w.a.Detach(t.Context(), demoURL))
			if p := w.project(t, 0); !p.Disconnected {
				t.Fatalf("after a detach: %q", p.Ending)
			}
			must(t, w.a.Attach(t.Context(), demoURL, "00000000000000000000000000000001"))
			if p := w.project(t, 0); p.Ending != "" {
				t.Fatalf("after an attach: %q", p.Ending)
			}
		}
	})
}

// A project with the same folder as one that is being detached waits for its end, which is immediate.
func TestAttachingWithAnotherScheme(t *testing.T) {
	t.Parallel()
	next := strings.Replace(demoURL, "http://", "https://", 1)
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		must(t, w.a.Detach(t.Context(), demoURL))
		must(t, w.a.Attach(t.Context(), next, "00000000000000000000000000000002"))
		if s := w.after(t, time.Minute); len(s.Projects) != 1 || s.Projects[0].MasterURL != next || len(s.Tasks) > 0 {
			t.Errorf("%+v %+v", s.Projects, s.Tasks)
		}
	})
}
