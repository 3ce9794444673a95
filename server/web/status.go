package web

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/untaken"
)

// To count reads whole tables, and anyone may ask: for each time that it takes, nobody
// makes it begin again for rest times as long.
const (
	fresh = time.Second
	rest  = 20
	// homePageMaxAge is how old the numbers on the home page may be, which clients fetch for its
	// tags alone.
	homePageMaxAge = 10 * time.Minute
)

// A cache keeps the last counts.
type cache struct {
	counting sync.Mutex // held by who counts

	mu     sync.Mutex
	taken  time.Time
	took   time.Duration
	status Status
}

// A Status is what the status page and metrics tell. Its JSON form is a part of what
// `starling-server status --json` prints.
type Status struct {
	store.Status
	Untaken []untaken.Finding `json:"untaken"` // unsent results that no computer can have
}

// TakeStatus counts everything as of now. It reads whole tables.
func TakeStatus(tx *store.Tx, now time.Time) (st Status, err error) {
	if st.Status, err = tx.Status(now.Unix()); err == nil {
		st.Untaken, err = untaken.Look(tx, now)
	}
	return st, err
}

// last returns the last counts, if they are not older than age or were dear.
func (c *cache) last(age time.Duration) (Status, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := time.Since(c.taken)
	return c.status, since >= 0 && since < max(age, rest*c.took)
}

// counts returns how much there is of everything, as it was at most age ago, or when it
// was last counted if that takes long.
func (s *Site) counts(ctx context.Context, age time.Duration) (Status, error) {
	c := &s.cache
	if st, ok := c.last(age); ok {
		return st, nil
	}
	c.counting.Lock()
	defer c.counting.Unlock()
	if st, ok := c.last(age); ok { // another has counted meanwhile
		return st, nil
	}
	begin := time.Now()
	var st Status
	err := s.Store.View(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		st, err = TakeStatus(tx, begin)
		return err
	})
	if err != nil {
		return st, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken, c.took, c.status = begin, time.Since(begin), st
	return st, nil
}

// status shows how far the work has come: as a page, with ?xml=1 in the manner
// of BOINC's server_status.php, or with ?json=1 as `status --json` prints it.
func (s *Site) status(w http.ResponseWriter, r *http.Request) {
	st, err := s.counts(r.Context(), fresh)
	if err != nil {
		s.Log.Error("status page failed", "err", err)
		http.Error(w, unavailable, http.StatusServiceUnavailable)
		return
	}
	switch q := r.URL.Query(); {
	case q.Get("json") != "":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(st)
	case q.Get("xml") != "":
		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write(statusXML(st))
	default:
		w.Header().Set("Refresh", "30")
		s.show(w, http.StatusOK, "status.html", map[string]any{"Status": st})
	}
}

func statusXML(st Status) []byte {
	var w bxml.Writer
	w.Open("server_status")
	w.Int("update_time", time.Now().Unix())
	w.Open("database_file_states")
	w.Int("results_ready_to_send", st.Results.ByServerState[store.Unsent.String()])
	w.Int("results_in_progress", st.Results.ByServerState[store.InProgress.String()])
	w.Int("workunits_waiting_for_validation", st.Workunits.NeedValidate)
	w.Int("workunits_waiting_for_assimilation", st.Workunits.WaitingAssimilate)
	w.Int("workunits_waiting_for_deletion", st.Workunits.WaitingFileDelete)
	w.Int("results_waiting_for_deletion", st.Results.WaitingFileDelete)
	w.Int("users_registered", st.Users)
	w.Int("hosts_registered", st.Hosts)
	w.Close("database_file_states")
	w.Close("server_status")
	return w.Bytes()
}
