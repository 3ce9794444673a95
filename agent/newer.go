package agent

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/starling-grid/starling/internal/release"
)

const (
	newerEvery = 24 * time.Hour
	newerRetry = time.Hour // after trouble
)

// newer is what is known of newer versions of this program. The agent tells of one
// and never replaces itself.
type newer struct {
	next  time.Time // when to ask again
	found *release.Release
}

// askNewer asks once a day which version is the newest, if the settings say where
// and the network may be used.
func (a *Agent) askNewer(now time.Time, w *waker) {
	where := a.settings.ReleaseURL
	if where == "" || a.last.Snapshot.Network.Denied() {
		return
	}
	if now.Before(a.newer.next) {
		w.by(a.newer.next)
		return
	}
	a.newer.next = now.Add(newerEvery) // and while it asks
	go func() {
		r, err := a.newest(where)
		a.post(func() { a.tellNewer(r, err) })
	}()
}

func (a *Agent) newest(where string) (release.Release, error) {
	ctx, cancel := context.WithTimeout(a.ctx, time.Minute)
	defer cancel()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return release.Release{}, err
	}
	req.Header.Set("User-Agent", a.sched.UserAgent)
	resp, err := a.sched.HTTP.Do(req)
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

func (a *Agent) tellNewer(r release.Release, err error) {
	switch {
	case err != nil:
		a.newer.next = time.Now().Add(newerRetry)
		a.log.Debug("cannot learn which version is the newest", "error", err)
	case !r.After(a.cfg.Version):
		a.newer.found = nil
	case a.newer.found == nil || *a.newer.found != r:
		a.newer.found = &r
		a.log.Info("a newer Starling is out", "version", r.Version, "this", a.cfg.Version, "see", r.URL)
	}
}
