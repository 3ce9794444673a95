package server_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/operate"
)

const oneJob = "<job><input_file><mode>inline</mode><source>x</source></input_file></job>"

// The server is killed after it has noted that an expired batch is retired, and before its output is deleted.
func TestTheOutputOfAnExpiredBatchGoesAfterACrash(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	s := newSubmitter(w, "lab")
	s.wants(s.ask("create_batch", fmt.Sprintf("<app_name>upper</app_name><batch_name>a</batch_name><expire_time>%d</expire_time>", w.now().Add(time.Hour).Unix())), "<batch_id>1</batch_id>")
	s.wants(s.ask("submit_batch", "<batch><app_name>upper</app_name><batch_id>1</batch_id>"+oneJob+"</batch>"), "<batch_id>1</batch_id>")
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.compute(c.rpc(1))
	w.step()
	w.step()
	killed := errors.New("killed")
	calls := 0
	a := &api.API{Store: w.p.Store, Log: slog.New(slog.DiscardHandler), Dir: w.dir, Discard: func(string) (int, error) {
		if calls++; calls == 1 {
			return 0, killed
		}
		return 1, nil
	}}
	later := w.now().Add(2 * time.Hour)
	if _, err := a.Expire(t.Context(), later); !errors.Is(err, killed) {
		t.Fatalf("%v", err)
	}
	for range 3 {
		if _, err := a.Expire(t.Context(), later); err != nil {
			t.Fatal(err)
		}
	}
	if calls < 2 {
		t.Error("the output is never deleted")
	}
}

// Batches that cannot end, since the assimilator of their application fails, do not delay others.
func TestBatchesThatCannotEndKeepNoOtherFromExpiring(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "bitwise", Assimilator: "exec:false"}, w.now()))
	w.version("1.00")
	s := newSubmitter(w, "lab")
	batch := func(n int, after time.Duration) {
		s.wants(s.ask("create_batch", fmt.Sprintf("<app_name>upper</app_name><batch_name>b%d</batch_name><expire_time>%d</expire_time>", n, w.now().Add(after).Unix())), "<batch_id>")
		s.wants(s.ask("submit_batch", fmt.Sprintf("<batch><app_name>upper</app_name><batch_id>%d</batch_id>%s</batch>", n, oneJob)), "<batch_id>")
	}
	for n := range 20 {
		batch(n+1, time.Hour)
		s.wants(s.ask("abort_batch", fmt.Sprintf("<batch_id>%d</batch_id>", n+1)), "<success>1</success>")
	}
	batch(21, 2*time.Hour)
	w.step()
	w.ahead += 3 * time.Hour
	for range 5 {
		w.step()
	}
	if got := s.ask("query_batch", "<batch_id>21</batch_id>"); !strings.Contains(got, "<nerror_jobs>1</nerror_jobs>") {
		t.Errorf("an hour after it has expired, its work is still done: %s", got)
	}
}
