package counts

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// Counts that took long are kept for longer.
func TestCountsAreKept(t *testing.T) {
	c := Cache{taken: time.Now().Add(-time.Minute), took: time.Second}
	if _, ok := c.last(Fresh); ok {
		t.Error("a second's work is kept for a minute")
	}
	c.took = 10 * time.Second
	if _, ok := c.last(Fresh); !ok {
		t.Error("ten seconds' work is not kept for a minute")
	}
	c.took = 0
	if _, ok := c.last(10 * time.Minute); !ok {
		t.Error("who does not mind old counts gets none")
	}
}

// Who cannot wait gets what was counted before, or nothing.
func TestSoon(t *testing.T) {
	st, err := store.OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	w := storetest.Fill(t, st)
	// busy keeps the database from counting until release is called.
	busy := func() (release func()) {
		started, end, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			_ = st.Update(t.Context(), func(*store.Tx) error {
				close(started)
				<-end
				return nil
			})
		}()
		<-started
		return func() { close(end); <-over }
	}
	c := Cache{Store: st}
	release := busy()
	if _, ok := c.Soon(t.Context(), 0, time.Millisecond); ok {
		t.Error("there are counts before anything was counted")
	}
	release()
	if s, ok := c.Soon(t.Context(), 0, time.Hour); !ok || s.Workunits.Total != 0 {
		t.Errorf("got %+v, %t", s.Workunits, ok)
	}
	storetest.Add(t, st, w.Workunit("a"), 1)
	release = busy()
	c.taken = c.taken.Add(-time.Hour)
	if s, ok := c.Soon(t.Context(), time.Minute, time.Millisecond); !ok || s.Workunits.Total != 0 {
		t.Errorf("got %+v, %t; want the old counts", s.Workunits, ok)
	}
	release()
	if s, ok := c.Soon(t.Context(), time.Minute, time.Hour); !ok || s.Workunits.Total != 1 {
		t.Errorf("got %+v, %t; want those of now", s.Workunits, ok)
	}
}
