package talk

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/internal/release"
)

const (
	newerEvery = 24 * time.Hour
	newerRetry = time.Hour // after trouble
)

// newer is the state of the search for newer versions of this program. The agent reports one and
// never replaces itself.
type newer struct {
	next  time.Time // when to ask again
	found *release.Release
}

// AskNewer asks once a day for the newest version, if the settings have an address to ask and the
// network may be used.
func (t *Talk) AskNewer(now time.Time, w *core.Waker) {
	where := t.Settings.ReleaseURL
	if where == "" || t.Last.Snapshot.Network.Denied() {
		return
	}
	if now.Before(t.newer.next) {
		w.By(t.newer.next)
		return
	}
	t.newer.next = now.Add(newerEvery) // and while it asks
	go func() {
		r, err := t.newest(where)
		t.Post(NewerFound{r, err})
	}()
}

func (t *Talk) newest(where string) (release.Release, error) {
	ctx, cancel := context.WithTimeout(t.Ctx, time.Minute)
	defer cancel()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return release.Release{}, err
	}
	req.Header.Set("User-Agent", t.Sched.UserAgent)
	resp, err := t.Sched.HTTP.Do(req)
	if err != nil {
		return release.Release{}, err
	}
	defer resp.Body.Close()
	r, err := release.Read(resp)
	if err != nil {
		return r, fmt.Errorf("%s: %w", where, err)
	}
	return r, nil
}

func (t *Talk) noteNewer(r release.Release, err error) {
	switch {
	case err != nil:
		t.newer.next = time.Now().Add(newerRetry)
		t.Log.Debug("cannot check for a newer version", "err", err)
	case !r.After(t.Version):
		t.newer.found = nil
	case t.newer.found == nil || *t.newer.found != r:
		t.newer.found = &r
		t.Log.Info("a newer version of Starling is available", "version", r.Version, "this", t.Version, "see", r.URL)
	}
}

// Newer returns the newest version of the program, if it is newer than this one, or nil if none is
// known.
func (t *Talk) Newer() *release.Release { return t.newer.found }
