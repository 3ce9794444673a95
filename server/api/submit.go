package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"regexp"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/webhook"
	"github.com/starling-grid/starling/server/workgen"
)

var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

func named(what, name string) error {
	if len(name) > maxName || !names.MatchString(name) {
		return faultf(http.StatusUnprocessableEntity, fmt.Sprintf("use letters, digits, _ . and -, at most %d of them", maxName), "%q is no name for a %s", name, what)
	}
	return nil
}

// read reads a submission from a request's body. The caller calls release when it is no longer in
// memory.
func (c *call) read(a *API) (s wire.Submission, release func(), err error) {
	release, err = a.hold(c.Request, maxBody)
	if err != nil {
		return s, nil, err
	}
	if s, err = decode(c.Body); err == nil {
		return s, release, nil
	}
	release()
	_, large := errors.AsType[*http.MaxBytesError](err)
	_, ours := errors.AsType[*fault](err)
	if !large && !ours {
		err = faultf(http.StatusBadRequest, "see openapi.json for what a batch holds", "the request is not understood: %v", err)
	}
	return s, nil, err
}

// submit makes a batch, or completes the one of that name.
func (a *API) submit(c *call) (any, error) {
	s, release, err := c.read(a)
	if err != nil {
		return nil, err
	}
	defer release()
	b, isNew, err := a.make(c.Context(), limit.ClientOf(c.Request), c.token, &s)
	if err != nil {
		return nil, err
	}
	status, err := a.status(c.Context(), b)
	if err != nil {
		return nil, err
	}
	code := http.StatusOK
	if isNew {
		code = http.StatusCreated
	}
	c.w.Header().Set("Location", fmt.Sprintf("batches/%d", b.ID))
	reply(c.w, code, status)
	return nil, nil
}

// make makes a batch of a token, or completes the one of that name.
func (a *API) make(ctx context.Context, from netip.Addr, token store.Token, s *wire.Submission) (b store.APIBatch, isNew bool, err error) {
	if err := a.check(token, s); err != nil {
		return b, false, err
	}
	b, app, isNew, err := a.begin(ctx, token, s)
	if err != nil || b.Made {
		return b, isNew, err
	}
	if err := a.complete(ctx, from, s, b, app); err != nil {
		return b, isNew, err
	}
	b.Made = true
	return b, isNew, a.Store.Update(ctx, func(tx *store.Tx) error { return tx.APIBatchMade(b.ID) })
}

func (a *API) check(token store.Token, s *wire.Submission) error {
	if err := named("batch", s.Name); err != nil {
		return err
	}
	if n := len(s.Workunits); n == 0 || n > maxWorkunits {
		return faultf(http.StatusUnprocessableEntity, fmt.Sprintf("send from 1 to %d workunits", maxWorkunits), "the batch has %d workunits", n)
	}
	seen := make(map[string]bool)
	for i := range s.Workunits {
		wu := &s.Workunits[i]
		if wu.Name == "" {
			wu.Name = fmt.Sprint(i)
		}
		if err := named("workunit", wu.Name); err != nil {
			return err
		}
		if seen[wu.Name] {
			return faultf(http.StatusUnprocessableEntity, "give each a name of its own", "two workunits are called %q", wu.Name)
		}
		seen[wu.Name] = true
	}
	if s.Webhook != "" && !webhook.Allowed(s.Webhook, a.Webhooks) {
		return faultf(http.StatusUnprocessableEntity, "ask the project's operator to add its address to webhook_urls in server.toml, or follow the batch with GET batches/ID?wait=60", "the project sends no webhooks to %s", s.Webhook)
	}
	return may(token, s.App)
}

func appByName(tx *store.Tx, name string) (store.App, error) {
	app, err := tx.AppByName(name)
	if errors.Is(err, store.ErrNotFound) {
		err = faultf(http.StatusUnprocessableEntity, "ask the project's operator for the names of its applications", "there is no application %q", name)
	}
	return app, err
}

// begin finds the batch of that name, or makes it.
func (a *API) begin(ctx context.Context, token store.Token, s *wire.Submission) (b store.APIBatch, app store.App, isNew bool, err error) {
	err = a.Store.Update(ctx, func(tx *store.Tx) (err error) {
		isNew = false
		if app, err = appByName(tx, s.App); err != nil {
			return err
		}
		b, err = tx.APIBatchByName(token.ID, s.Name)
		switch {
		case err == nil && !b.RetiredTime.IsZero() && !b.Made:
			return faultf(http.StatusConflict, "choose another name", "the batch %q has expired", s.Name)
		case err == nil && b.AppID == app.ID && b.Expected == len(s.Workunits):
			return nil
		case err == nil && (b.AppID != app.ID || b.Expected > 0):
			return faultf(http.StatusConflict, "choose another name, or repeat the same request", "there is another batch called %q", s.Name)
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
		if q := token.Quota; q > 0 {
			n, err := tx.UnfinishedOfToken(token.ID)
			if err != nil {
				return err
			}
			if int(n)+len(s.Workunits) > q {
				return faultf(http.StatusTooManyRequests, "wait until some are finished, cancel a batch, or ask the project's operator for more",
					"%d workunits of this token are unfinished, and it may have %d", n, q)
			}
		}
		isNew = true
		if b.ID != 0 { // it is empty
			b.Expected = len(s.Workunits)
			return tx.FillAPIBatch(b.ID, b.Expected)
		}
		b = store.APIBatch{CreateTime: time.Now(), TokenID: token.ID, Name: s.Name, AppID: app.ID, Expected: len(s.Workunits), Webhook: s.Webhook}
		b.ID, err = tx.InsertAPIBatch(b)
		return err
	})
	return b, app, isNew, err
}

// chunk is how many workunits are made in one transaction.
const chunk = 500

// unique is a workunit's name among those of all batches.
func unique(b store.APIBatch, name string) string { return fmt.Sprintf("api%d_%s", b.ID, name) }

// complete makes the workunits of a batch that are not there yet.
func (a *API) complete(ctx context.Context, from netip.Addr, s *wire.Submission, b store.APIBatch, app store.App) error {
	dir, remove, err := a.Spool.folder(ctx, from, a.spooled(s))
	if err != nil {
		return err
	}
	defer remove()
	g, err := workgen.New(a.Store, a.Download, a.Dir, app, time.Now())
	if err != nil {
		return err
	}
	files := newFetcher(dir, a.Fetching)
	files.owner = b.TokenID
	var specs []workgen.Spec
	var places []int
	flush := func() error {
		if len(specs) == 0 {
			return nil
		}
		_, err := g.Create(ctx, specs, time.Now())
		if wrong, ok := errors.AsType[*workgen.SpecError](err); ok {
			f := faultf(http.StatusUnprocessableEntity, "correct it and send the batch again under the same name: no workunit is made twice", "workunit %q: %v", s.Workunits[places[wrong.Index]].Name, wrong.Err)
			f.Workunit = &places[wrong.Index]
			return f
		}
		specs, places = nil, nil
		return err
	}
	for i, wu := range s.Workunits {
		there, err := a.has(ctx, unique(b, wu.Name))
		if err != nil {
			return err
		}
		if there {
			continue
		}
		spec, err := a.specOf(ctx, s, b, i, filepath.Join(dir, fmt.Sprint(i)), files)
		if err != nil {
			return err
		}
		specs, places = append(specs, spec), append(places, i)
		if len(specs) == chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// spooled returns how many bytes of a submission's inputs are spooled, at most.
func (a *API) spooled(s *wire.Submission) (n int64) {
	fetched := int64(0)
	for _, wu := range s.Workunits {
		for _, in := range wu.Inputs {
			if in.Copy {
				fetched = a.Fetching.MaxBytes
			} else if in.URL == "" {
				n += sizeOf(in)
			}
		}
	}
	return n + fetched
}

func (a *API) has(ctx context.Context, name string) (there bool, err error) {
	err = a.Store.View(ctx, func(tx *store.Tx) error {
		_, err := tx.WorkunitByName(name)
		there = err == nil
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return there, err
}
