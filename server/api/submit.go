package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/webhook"
	"github.com/starling-grid/starling/server/workgen"
)

var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

func named(what words.Text, name string) error {
	if len(name) > maxName || !names.MatchString(name) {
		return refusal(http.StatusUnprocessableEntity, words.T("{name} is no name for a {what}", "name", strconv.Quote(name), "what", what),
			words.T("use letters, digits, _ . and -, at most {most} of them", "most", maxName))
	}
	return nil
}

// read reads a submission from a request's body. The caller calls release when the submission is no
// longer in memory.
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
		err = faultf(http.StatusBadRequest, "see openapi.json for the format of a batch in this version of the server", "the request is not understood: %s", unread(err))
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
	if err := a.nameless(&s); err != nil {
		return nil, err
	}
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
	if err := a.check(ctx, token, s); err != nil {
		return b, false, err
	}
	b, app, isNew, err := a.begin(ctx, token, s)
	if err != nil || b.Made {
		return b, isNew, err
	}
	if err := a.complete(ctx, from, s, b, app, token); err != nil && !errors.Is(err, errMade) {
		// Workunits that were not made do not count until they are requested again.
		freed := a.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			return changed(tx, b, func(b *store.APIBatch) { b.PromisedUntil = time.Time{} })
		})
		return b, isNew, errors.Join(err, freed)
	}
	err = a.Store.Update(ctx, func(tx *store.Tx) error {
		if err := open(tx.View, b); err != nil {
			return err
		}
		return changed(tx, b, func(b *store.APIBatch) { b.Made = true })
	})
	if errors.Is(err, errMade) {
		err = nil
	}
	b.Made = true
	return b, isNew, err
}

func (a *API) check(ctx context.Context, token store.Token, s *wire.Submission) error {
	if err := named(words.T("batch"), s.Name); err != nil {
		return err
	}
	if err := may(token, s.App); err != nil {
		return err
	}
	if err := a.Store.View(ctx, func(tx *store.View) error { _, err := appByName(tx, s.App); return err }); err != nil {
		return err
	}
	if n := len(s.Workunits); n == 0 || n > maxWorkunits {
		return faultf(http.StatusUnprocessableEntity, fmt.Sprintf("send from 1 to %d workunits", maxWorkunits), "the batch has %d workunits", n)
	}
	if n := max(s.Quorum, s.Targets); n > maxCopies {
		return refusal(http.StatusUnprocessableEntity, words.T("each workunit would have {count} results", "count", n), words.T("give quorum and targets at most {most}", "most", maxCopies))
	}
	seen := make(map[string]bool)
	for i := range s.Workunits {
		wu := &s.Workunits[i]
		if wu.Name == "" {
			wu.Name = fmt.Sprint(i)
		}
		if p := priorityOf(s, wu); p < -maxPriority || p > maxPriority {
			f := faultf(http.StatusUnprocessableEntity, fmt.Sprintf("give one from %d to %d: it orders the jobs of this token, and does not put them before those of others", -maxPriority, maxPriority), "workunit %q has the priority %d", wu.Name, p)
			f.workunit = &i
			return f
		}
		if err := named(words.Plain("workunit"), wu.Name); err != nil {
			return err
		}
		if seen[wu.Name] {
			return faultf(http.StatusUnprocessableEntity, "give each a name of its own", "two workunits are called %q", wu.Name)
		}
		if err := follows(wu, seen, i); err != nil {
			return err
		}
		seen[wu.Name] = true
	}
	if s.Webhook != "" && !webhook.Allowed(s.Webhook, a.WebhookURLs) {
		return faultf(http.StatusUnprocessableEntity, "ask the project's operator to add its address to webhook_urls in server.toml, or follow the batch with GET batches/ID?wait=60", "the project sends no webhooks to %s", s.Webhook)
	}
	return nil
}

// follows returns an error if a workunit comes after one that is not listed before it, so that
// circles are impossible.
func follows(wu *wire.Workunit, before map[string]bool, i int) error {
	names := slices.Clone(wu.After)
	for _, in := range wu.Inputs {
		if in.OutputOf != "" {
			names = append(names, in.OutputOf)
		}
	}
	for _, name := range names {
		if !before[name] {
			f := faultf(http.StatusUnprocessableEntity, "list a workunit after all that it needs, in the same batch", "workunit %q comes after %q, which is not listed before it", wu.Name, name)
			f.workunit = &i
			return f
		}
	}
	return nil
}

func appByName(tx *store.View, name string) (store.App, error) {
	app, err := tx.AppByName(name)
	if errors.Is(err, store.ErrNotFound) {
		err = refusal(http.StatusUnprocessableEntity, words.T("there is no application {app}", "app", strconv.Quote(name)), words.T("ask the project's operator for the names of its applications"))
	}
	return app, err
}

// begin finds the batch of that name, or makes it.
func (a *API) begin(ctx context.Context, token store.Token, s *wire.Submission) (b store.APIBatch, app store.App, isNew bool, err error) {
	content, err := contentOf(s)
	if err != nil {
		return b, app, false, err
	}
	err = a.Store.Update(ctx, func(tx *store.Tx) (err error) {
		isNew = false
		if app, err = appByName(tx.View, s.App); err != nil {
			return err
		}
		now := time.Now()
		b, err = tx.APIBatchByName(token.ID, s.Name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		there := err == nil
		made := 0
		if there {
			st, err := tx.BatchStatus(b.Number())
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			made = int(st.Total)
		}
		resumed := there && b.AppID == app.ID && b.Expected == len(s.Workunits) && takes(b, content, made, now)
		switch {
		case there && !b.RetiredTime.IsZero() && !b.Made:
			return refusal(http.StatusConflict, words.T("the batch {name} has expired", "name", strconv.Quote(s.Name)), words.T("choose another name"))
		case resumed && b.Made:
			return nil
		case !resumed && there && (b.AppID != app.ID || b.Expected > 0 || b.Made):
			return nameTaken(s.Name)
		}
		if err := affords(tx, token.ID, b, len(s.Workunits), now); err != nil {
			return err
		}
		if isNew = !resumed; !there {
			b = store.APIBatch{CreateTime: now, TokenID: token.ID, Name: s.Name, AppID: app.ID, Webhook: s.Webhook}
			if b.ID, err = tx.InsertAPIBatch(b); err != nil {
				return err
			}
		}
		old := b
		b.Expected, b.Content, b.PromisedUntil = len(s.Workunits), content, now.Add(promised)
		return tx.SaveAPIBatch(old, b)
	})
	return b, app, isNew, err
}

// nameTaken refuses a batch because another one has its name.
func nameTaken(name string) error {
	return refusal(http.StatusConflict, words.T("there is another batch called {name}", "name", strconv.Quote(name)), words.T("choose another name, or repeat the same request"))
}

// takes reports whether a submission with some content may complete a batch of which some workunits are made. A
// submission that was refused may be sent again with corrections of others, but not while another request is making the
// workunits.
func takes(b store.APIBatch, content string, made int, now time.Time) bool {
	old, new := strings.Fields(b.Content), strings.Fields(content)
	if len(old) == 0 || old[0] == new[0] {
		return true
	}
	chunks := (made + chunk - 1) / chunk
	return !b.Made && !now.Before(b.PromisedUntil) && (made == 0 || chunks < len(old) && chunks < len(new) && old[chunks] == new[chunks])
}

// contentOf returns a hash of the workunits of a submission, and then of the workunits up to the end of the first chunk, of
// the second, and so on. They are made in this order.
func contentOf(s *wire.Submission) (string, error) {
	same := *s
	same.Webhook = ""
	whole := sha256.New()
	if err := json.NewEncoder(whole).Encode(same); err != nil {
		return "", err
	}
	sums := []string{hex.EncodeToString(whole.Sum(nil))}
	same.Workunits = nil
	h := sha256.New()
	part := json.NewEncoder(h)
	if err := part.Encode(same); err != nil {
		return "", err
	}
	for list := range slices.Chunk(s.Workunits, chunk) {
		if err := part.Encode(list); err != nil {
			return "", err
		}
		sums = append(sums, hex.EncodeToString(h.Sum(nil)))
	}
	return strings.Join(sums, " "), nil
}

// promised is the time for which the workunits of a batch count against the quota that a request
// is making. It is renewed while they are made.
const promised = time.Hour

// chunk is the number of workunits made in one transaction.
const chunk = 500

// unique returns a workunit's name that is unique among all batches.
func unique(b store.APIBatch, name string) string { return fmt.Sprintf("api%d_%s", b.ID, name) }

// complete makes the workunits of a batch that are not there yet.
func (a *API) complete(ctx context.Context, from netip.Addr, s *wire.Submission, b store.APIBatch, app store.App, token store.Token) (err error) {
	files := newFetcher(a.Settings)
	files.owner = b.TokenID
	if copies(s) {
		dir, remove, err := a.Spool.folder(ctx, from, a.MaxFetchMB.Bytes())
		if err != nil {
			return err
		}
		defer remove()
		files.dir = dir
	}
	g, err := workgen.New(a.Store, a.Download, a.Dir, app, time.Now())
	if err != nil {
		return err
	}
	g.Guard = func(tx *store.Tx) error {
		if err := open(tx.View, b); err != nil {
			return err
		}
		return changed(tx, b, func(b *store.APIBatch) { b.PromisedUntil = time.Now().Add(promised) })
	}
	g.Check = fits(token.ID)
	defer func() {
		if err != nil { // files that no workunit needs would stay for ever
			err = errors.Join(err, g.Clear(context.WithoutCancel(ctx)))
		}
	}()
	var specs []workgen.Spec
	var places []int
	flush := func() error {
		for len(specs) > 0 {
			_, err := g.Create(ctx, specs, time.Now())
			wrong, ok := errors.AsType[*workgen.SpecError](err)
			if ok && errors.Is(err, store.ErrExists) { // another request has made it meanwhile
				specs, places = slices.Delete(specs, wrong.Index, wrong.Index+1), slices.Delete(places, wrong.Index, wrong.Index+1)
				continue
			}
			if ok {
				reason, ok := words.Explanation(wrong.Err)
				if !ok {
					reason = words.Plain(wrong.Err.Error())
				}
				f := refusal(http.StatusUnprocessableEntity, words.T("workunit {name}: {reason}", "name", strconv.Quote(s.Workunits[places[wrong.Index]].Name), "reason", reason),
					words.T("correct it and send the batch again under the same name: no workunit is made twice"))
				f.workunit = &places[wrong.Index]
				return f
			}
			if err != nil {
				return err
			}
			specs, places = nil, nil
		}
		return nil
	}
	for i, wu := range s.Workunits {
		there, err := a.has(ctx, unique(b, wu.Name))
		if err != nil {
			return err
		}
		if there {
			continue
		}
		spec, err := a.specOf(ctx, s, b, i, files)
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

// errMade means that another request has made the last of a batch's workunits.
var errMade = errors.New("all workunits are made")

// open returns why no workunits of a batch may be made any more, nil if they may.
func open(tx *store.View, b store.APIBatch) error {
	switch now, err := tx.APIBatch(b.ID, b.TokenID); {
	case err != nil:
		return err
	case !now.RetiredTime.IsZero() || now.Expected != b.Expected:
		return refusal(http.StatusConflict, words.T("the batch {name} was cancelled or has expired", "name", strconv.Quote(b.Name)), words.T("choose another name"))
	case now.Content != b.Content:
		return nameTaken(b.Name)
	case now.Made:
		return errMade
	}
	return nil
}

// changed saves changes of a batch as it is now.
func changed(tx *store.Tx, b store.APIBatch, change func(*store.APIBatch)) error {
	read := func(id int64) (store.APIBatch, error) { return tx.APIBatch(id, b.TokenID) }
	return store.Change(read, b.ID, tx.SaveAPIBatch, change)
}

// retired saves that the output of a batch was deleted.
func retired(tx *store.Tx, b store.APIBatch) error {
	return changed(tx, b, func(b *store.APIBatch) {
		if b.RetiredTime.IsZero() {
			b.RetiredTime = time.Now()
		}
	})
}

// copies reports whether the project is to fetch one of a submission's inputs.
func copies(s *wire.Submission) bool {
	return slices.ContainsFunc(s.Workunits, func(wu wire.Workunit) bool {
		return slices.ContainsFunc(wu.Inputs, func(in wire.Input) bool { return in.Copy })
	})
}

func (a *API) has(ctx context.Context, name string) (there bool, err error) {
	err = a.Store.View(ctx, func(tx *store.View) error {
		_, err := tx.WorkunitByName(name)
		there = err == nil
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return there, err
}
