// Package api lets programs on other computers submit work, track its progress and fetch its
// results. It uses JSON over HTTP and requires a token. docs/api.md describes it for people, and
// openapi.json, which is served too, for programs.
//
// A batch has a name that its sender chose. A second request with the name, as after a lost answer,
// returns the same batch, completed if need be. Nothing is computed twice.
package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// Limits of requests.
const (
	maxBody      = 64 << 20 // bytes
	maxNames     = 4 << 20  // bytes of a request that names files
	maxUpload    = 1 << 30  // bytes of a request that brings files
	maxWorkunits = 10000    // of a batch
	maxInputs    = 100000   // files of a batch
	maxName      = 60       // bytes, of a batch or a workunit in it
	maxCopies    = 100      // results of a workunit at first. They are all created at once
	maxPriority  = 10       // of a workunit for its token, and its negative is the least. Each value has a separate queue
	maxWait      = 60 * time.Second
	listed       = 1000 // workunits of an answer
	newest       = 100  // maximum number of batches in an answer, since each is counted
)

// An API is the part of a project that programs use. It is safe for concurrent use.
type API struct {
	Store    *store.Store
	Log      *slog.Logger
	Dir      string        // of the project, in which the templates are
	Download workgen.Files // input files
	Rules    *match.Rules
	Key      string        // a secret of the project's, see Authenticator
	Memory   *limit.Bodies // for requests (nil: unlimited)
	Spool    Spool
	Settings
	// Outcome returns the folder in which a finished workunit's output files are.
	Outcome func(wu store.Workunit) string
	// Discard deletes the outcomes of workunits whose names begin with prefix.
	Discard func(prefix string) (int, error)
}

//go:embed openapi.json
var description []byte

// NewToken returns a secret for a bearer, and the hash of it that is stored.
func NewToken() (secret, hash string) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	secret = "starling_" + base64.RawURLEncoding.EncodeToString(b[:])
	return secret, hashOf(secret)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// A fault is an error for the sender of a request, with a remedy.
type fault struct {
	text, cure words.Text
	workunit   *int // place of the one that is wrong
	code       int
}

// refusal returns a fault that the project's pages may show.
func refusal(code int, text, cure words.Text) *fault {
	return &fault{text: text, cure: cure, code: code}
}

// faultf returns a fault that only programs read, in English.
func faultf(code int, cure, format string, args ...any) *fault {
	return refusal(code, words.Plain(fmt.Sprintf(format, args...)), words.Plain(cure))
}

// in returns the fault in a language.
func (f *fault) in(l words.Language) *wire.Fault {
	return &wire.Fault{Text: f.text.In(l), Cure: f.cure.In(l), Workunit: f.workunit}
}

func (f *fault) Error() string { return f.in(words.English).Error() }

// A call is a request of a token's bearer.
type call struct {
	*http.Request
	token store.Token
	w     http.ResponseWriter
}

// Routes returns the routes for the paths below /api/v1/ of the project's URL.
func (a *API) Routes() map[string]limit.Route {
	routes := map[string]limit.Route{
		"GET api/v1/openapi.json":                                  {Handle: a.openapi, Bound: limit.Small},
		"POST api/v1/batches":                                      a.large(limit.Shared, maxBody, a.submit),
		"GET api/v1/batches":                                       a.bearer(a.batches),
		"GET api/v1/token":                                         a.bearer(a.self),
		"DELETE api/v1/files/{name}":                               a.bearer(a.discardFile),
		"PUT api/v1/files/{name}":                                  a.large(limit.Spooled, maxUpload, a.upload),
		"POST api/v1/estimate":                                     a.large(limit.Shared, maxBody, a.dryRun),
		"GET api/v1/batches/{id}/estimate":                         a.ofBatch(a.estimate),
		"GET api/v1/batches/{id}":                                  a.ofBatch(a.batch),
		"DELETE api/v1/batches/{id}":                               a.ofBatch(a.cancel),
		"POST api/v1/batches/{id}/retire":                          a.ofBatch(a.retire),
		"GET api/v1/batches/{id}/outputs.zip":                      a.ofBatch(a.archive),
		"GET api/v1/batches/{id}/workunits":                        a.ofBatch(a.workunits),
		"GET api/v1/batches/{id}/workunits/{name}/files/{file...}": a.ofBatch(a.file),
	}
	known := http.NewServeMux()
	for pattern := range routes {
		known.HandleFunc(strings.Replace(pattern, "api/v1", "", 1), http.NotFound)
	}
	routes["api/v1/{rest...}"] = limit.Route{Bound: limit.Bound{Kept: limit.Nowhere}, Handle: func(w http.ResponseWriter, r *http.Request) {
		a.unknown(w, r, known)
	}}
	return routes
}

// unknown answers a request that none of the known routes takes.
func (a *API) unknown(w http.ResponseWriter, r *http.Request, known *http.ServeMux) {
	const cure = "see docs/api.md, or openapi.json below api/v1/ for programs"
	var methods []string
	for _, m := range []string{http.MethodDelete, http.MethodGet, http.MethodPost, http.MethodPut} {
		if _, pattern := known.Handler(&http.Request{Method: m, URL: &url.URL{Path: "/" + r.PathValue("rest")}}); pattern != "" {
			methods = append(methods, m)
		}
	}
	if len(methods) == 0 {
		a.refuse(w, r, faultf(http.StatusNotFound, cure, "the project has no such address below api/v1/"))
		return
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	a.refuse(w, r, faultf(http.StatusMethodNotAllowed, cure, "this address takes %s only", strings.Join(methods, " and ")))
}

func (a *API) openapi(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(description)
}

// bearer accepts a request with a valid token, and answers with the result of handle: a value, or
// nil if the handler has answered. The request's body is not read.
func (a *API) bearer(handle func(c *call) (any, error)) limit.Route {
	return a.large(limit.Nowhere, 0, handle)
}

// ofBatch is bearer for requests about one batch of the token.
func (a *API) ofBatch(handle func(c *call, b store.APIBatch) (any, error)) limit.Route {
	return a.bearer(func(c *call) (any, error) {
		b, err := a.own(c.Context(), c.token, c.PathValue("id"))
		if err != nil {
			return nil, err
		}
		return handle(c, b)
	})
}

// large is bearer for requests with a body.
func (a *API) large(kept limit.Place, most int64, handle func(c *call) (any, error)) limit.Route {
	return limit.Route{Bound: limit.Bound{Most: most, Kept: kept}, Handle: func(w http.ResponseWriter, r *http.Request) {
		c := &call{Request: r, w: w}
		var answer any
		err := a.admit(c)
		if err == nil {
			answer, err = handle(c)
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		if answer != nil {
			reply(w, http.StatusOK, answer)
		}
	}}
}

// hold waits for memory for a request's body, if at most most bytes of it are kept in memory.
func (a *API) hold(r *http.Request, most int64) (release func(), err error) {
	n := most
	if r.ContentLength >= 0 {
		n = min(r.ContentLength, most)
	}
	return a.Memory.Hold(r.Context(), limit.ClientOf(r), n)
}

// admit finds whose token a request shows.
func (a *API) admit(c *call) error {
	secret, ok := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return faultf(http.StatusUnauthorized, "send the header Authorization: Bearer TOKEN; the project's operator makes one with starling-server token create", "no token")
	}
	err := a.Store.View(c.Context(), func(tx *store.View) (err error) {
		c.token, err = tx.TokenByHash(hashOf(strings.TrimSpace(secret)))
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return errRevoked
	}
	if err == nil {
		err = a.used(c.Context(), c.token)
	}
	return err
}

// used notes that a token was used, to the minute.
func (a *API) used(ctx context.Context, token store.Token) error {
	now := time.Now()
	if now.Sub(token.UsedTime) <= time.Minute {
		return nil
	}
	return a.Store.Update(ctx, func(tx *store.Tx) error {
		return store.Change(tx.Token, token.ID, tx.SaveToken, func(t *store.Token) { t.UsedTime = now })
	})
}

// faultOf returns the fault that the sender of a request gets for an error.
func (a *API) faultOf(err error) *fault {
	f, ok := errors.AsType[*fault](err)
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		f, ok = refusal(http.StatusRequestEntityTooLarge, words.T("the request has more than {most} bytes", "most", tooLarge.Limit), words.T("send it in several batches")), true
	}
	if errors.Is(err, limit.ErrBusy) {
		f, ok = refusal(http.StatusServiceUnavailable, words.T("the project is busy with other large requests"), words.T("try again in half a minute")), true
	}
	if !ok {
		if !errors.Is(err, context.Canceled) {
			a.Log.Error("API request failed", "err", err)
		}
		f = refusal(http.StatusServiceUnavailable, words.T("the project cannot answer now"), words.T("try again later"))
	}
	return f
}

// refuse answers with an error, in the language of the request's context. The project's pages set it, and
// programs get English.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := a.faultOf(err)
	if f.code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if f.code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "30")
	}
	reply(w, f.code, f.in(words.LanguageOf(r.Context())))
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}

// may returns an error if a token is not for an application.
func may(token store.Token, app string) error {
	if len(token.Apps) > 0 && !slices.Contains(token.Apps, app) {
		return refusal(http.StatusForbidden, words.T("this token is not for the application {app}", "app", strconv.Quote(app)),
			words.T("use one of {apps}, or ask the project's operator", "apps", strings.Join(token.Apps, ", ")))
	}
	return nil
}
