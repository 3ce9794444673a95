package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/api/client"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/forecast"
)

// tokenCookie has the token of a submitter who is logged in, until the browser is closed. The pages
// use the API with it, within the limits of the token.
const tokenCookie = "starling_token"

// Limits of the page of a batch. The API has the rest.
const (
	readOutcomes = 1000 // workunits that are read
	shownFailed  = 50   // failures
)

// submitter returns a client of the API for the token of a request, or nil without a token.
func (p *Pages) submitter(r *http.Request) *client.Client {
	cookie, err := r.Cookie(tokenCookie)
	if err != nil || cookie.Value == "" {
		return nil
	}
	return p.clientFor(cookie.Value)
}

func (p *Pages) clientFor(token string) *client.Client {
	return &client.Client{URL: p.Gate.MasterURL, Token: token, HTTP: &http.Client{Transport: inProcess{p.API}}}
}

// batches shows a token's batches with a form for another one, or asks for the token.
func (p *Pages) batches(w http.ResponseWriter, r *http.Request) {
	c := p.submitter(r)
	data := map[string]any{"Form": url.Values{"input": {"in"}, "quorum": {"1"}}}
	var err error
	if r.Method == http.MethodPost {
		action := r.PostFormValue("action")
		data["Form"] = r.PostForm
		switch {
		case action == "logout":
			p.keepToken(w, "")
			http.Redirect(w, r, p.Gate.MasterURL+"batches", http.StatusSeeOther)
			return
		case action == "login":
			token := strings.TrimSpace(r.PostFormValue("token"))
			if _, err = p.clientFor(token).Batches(r.Context()); err == nil {
				p.keepToken(w, token)
				http.Redirect(w, r, p.Gate.MasterURL+"batches", http.StatusSeeOther)
				return
			}
		case c != nil:
			var b wire.Batch
			if b, err = submit(r, c); err == nil {
				http.Redirect(w, r, fmt.Sprint(p.Gate.MasterURL, "batches/", b.ID), http.StatusSeeOther)
				return
			}
		}
	}
	if c != nil {
		list, failed := c.Batches(r.Context())
		data["Submitter"], data["Batches"] = failed == nil, list
		if failed == nil {
			var t wire.Token
			t, failed = c.Limits(r.Context())
			data["Limits"], data["Held"] = allowance.Lines(t), t.Held
		}
		err = errors.Join(err, failed)
	}
	p.showBatches(w, r, "batches.html", data, err)
}

// batch shows one batch, and cancels it if asked to.
func (p *Pages) batch(w http.ResponseWriter, r *http.Request) {
	c := p.submitter(r)
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if c == nil || err != nil {
		http.Redirect(w, r, p.Gate.MasterURL+"batches", http.StatusSeeOther)
		return
	}
	if r.Method == http.MethodPost {
		if _, err = c.Cancel(r.Context(), id); err != nil {
			p.withoutBatch(w, r, c, err)
			return
		}
		http.Redirect(w, r, fmt.Sprint(p.Gate.MasterURL, "batches/", id), http.StatusSeeOther)
		return
	}
	data := map[string]any{"Here": "batches"}
	b, err := c.Batch(r.Context(), id)
	if err == nil {
		data["Title"], data["Batch"], data["Percent"] = words.T("Batch {name}", "name", b.Name), b, fmt.Sprintf("%.0f", 100*b.Fraction)
		if e, err := c.Estimate(r.Context(), id); err == nil && b.Unfinished > 0 {
			f := forecast.Forecast{Basis: forecast.Basis(e.Basis), Computers: e.Computers}
			if e.Seconds != nil {
				f.Left = time.Duration(*e.Seconds) * time.Second
			}
			data["Estimate"] = f.Text()
		}
		if b.Held != "" {
			if t, err := c.Limits(r.Context()); err == nil {
				data["Held"] = t.Held
			}
		}
		data["Failed"], err = failed(r, c, id)
	}
	if err != nil {
		p.withoutBatch(w, r, c, err)
		return
	}
	p.show(w, r, http.StatusOK, "batch.html", data)
}

// withoutBatch shows why a batch is not shown: it is unknown, or else the token is.
func (p *Pages) withoutBatch(w http.ResponseWriter, r *http.Request, c *client.Client, err error) {
	if _, limits := c.Limits(r.Context()); limits == nil {
		if _, ok := errors.AsType[*wire.Fault](err); ok {
			p.missing(w, r, words.T("This token has no batch of this number."))
			return
		}
	}
	p.showBatches(w, r, "batches.html", map[string]any{"Form": url.Values{}}, err)
}

// failed returns the first workunits of a batch that failed.
func failed(r *http.Request, c *client.Client, id int64) (list []wire.Outcome, err error) {
	enough := errors.New("enough")
	n := 0
	err = c.Outcomes(r.Context(), id, func(o wire.Outcome) error {
		if o.State == "error" {
			list = append(list, o)
		}
		if n++; n == readOutcomes || len(list) == shownFailed {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return list, err
}

// outputs sends the output files of a batch.
func (p *Pages) outputs(w http.ResponseWriter, r *http.Request) {
	c := p.submitter(r)
	cookie, err := r.Cookie(tokenCookie)
	if c == nil || err != nil {
		http.Redirect(w, r, p.Gate.MasterURL+"batches", http.StatusSeeOther)
		return
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	var b wire.Batch
	if err == nil {
		b, err = c.Batch(r.Context(), id)
	}
	switch {
	case err != nil:
		p.withoutBatch(w, r, c, err)
		return
	case b.Retired, b.Expired: // the batch's page has the reason
		http.Redirect(w, r, fmt.Sprint(p.Gate.MasterURL, "batches/", id), http.StatusSeeOther)
		return
	}
	asked := r.Clone(r.Context())
	asked.URL.Path = fmt.Sprintf("%sapi/v1/batches/%s/outputs.zip", p.base, r.PathValue("id"))
	asked.Header.Set("Authorization", "Bearer "+cookie.Value)
	p.API.ServeHTTP(w, asked)
}

// submit makes the batch of a form: a workunit for each line.
func submit(r *http.Request, c *client.Client) (b wire.Batch, err error) {
	quorum, err := strconv.Atoi(r.PostFormValue("quorum"))
	if err != nil || quorum < 1 {
		return b, refusal("the quorum is not a number: give the number of computers whose results have to agree, such as 1")
	}
	s := wire.Submission{Name: r.PostFormValue("name"), App: r.PostFormValue("app"), Quorum: quorum}
	for line := range strings.Lines(r.PostFormValue("lines")) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		s.Workunits = append(s.Workunits, wire.Workunit{
			CommandLine: r.PostFormValue("args"), Inputs: []wire.Input{{Name: r.PostFormValue("input"), Text: &line}},
		})
	}
	if len(s.Workunits) == 0 {
		return b, refusal("the batch has no jobs: write one line of input for each")
	}
	return c.Submit(r.Context(), s)
}

// keepToken makes the browser keep a token for these pages alone, or forget it.
func (p *Pages) keepToken(w http.ResponseWriter, token string) {
	cookie := &http.Cookie{ //nolint:gosec // a project without TLS cannot use Secure
		Name: tokenCookie, Value: token, Path: p.base + "batches", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(p.Gate.MasterURL, "https:"),
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// showBatches shows a page with an error of the API, if there is one.
func (p *Pages) showBatches(w http.ResponseWriter, r *http.Request, page string, data map[string]any, err error) {
	code := http.StatusOK
	if err != nil {
		code = http.StatusUnprocessableEntity
	}
	if err := explained(data, err); err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, code, page, data)
}

// inProcess sends requests to a handler of this process.
type inProcess struct{ http.Handler }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	a := &answer{header: make(http.Header), code: http.StatusOK}
	t.ServeHTTP(a, r)
	return &http.Response{StatusCode: a.code, Status: http.StatusText(a.code), Header: a.header, Body: io.NopCloser(&a.body), Request: r}, nil
}

// An answer collects a handler's answer.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(code int)        { a.code = code }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
