package server_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// An outage of the file storage does not mean that a file is missing: no host is ordered to upload
// it again.
func TestAFileIsNotOrderedUnseen(t *testing.T) {
	t.Parallel()
	s3 := inBucket(t)
	w := newWorld(t)
	w.setUp()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.rpc(0)
	s3.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := operate.OrderFile(ctx, w.p, c.host, store.FileGet, "x", 1000, w.now()); err == nil {
		t.Error("a file was ordered that may be there")
	}
	s3.Restart(t)
	w.must(operate.OrderFile(t.Context(), w.p, c.host, store.FileGet, "x", 1000, w.now()))
}

// Daemons get the latest settings of an application, and the query ends with its context.
func TestAppOfAWorkunit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "a", Validator: "trivial", Assimilator: "copy"}, w.now()))
	id := storetest.Get(t, w.p.Store, (*store.View).AppByName, "a").ID
	for _, validator := range []string{"bitwise", "trivial"} {
		w.must(operate.SetApp(t.Context(), w.p, "a", func(a *operate.NewApp) { a.Validator = validator }, w.now()))
		if a, err := server.New(w.p, server.Part{}).App(t.Context(), id); err != nil || a.Validator != validator {
			t.Errorf("got %+v, %v; want validator %s", a, err, validator)
		}
	}
	if _, err := server.New(w.p, server.Part{}).App(t.Context(), id+1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another app: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := server.New(w.p, server.Part{}).App(ctx, id); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: got %v", err)
	}
}
