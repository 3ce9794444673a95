package api

import (
	"bufio"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
)

// This is a thin translation of BOINC's remote job submission. Requests are in XML, the operations
// belong to this API, and the answers are in XML.
//
// Source: BOINC html/user/submit_rpc_handler.php and job_file.php. Clients are lib/boinc_submit.py,
// lib/submit_api.py and lib/remote_submit.cpp.

// BOINCRoutes returns the routes for these requests, by paths below the project's URL.
func (a *API) BOINCRoutes() map[string]limit.Route {
	return map[string]limit.Route{
		"POST submit_rpc_handler.php": a.boinc(limit.Shared, maxBody, map[string]boincOp{
			"create_batch": (*boincCall).createBatch, "estimate_batch": (*boincCall).estimateBatch, "submit_batch": (*boincCall).submitBatch,
			"query_batches": (*boincCall).queryBatches, "query_batch": (*boincCall).queryBatch, "query_batch2": (*boincCall).queryBatch2,
			"query_job": (*boincCall).queryJob, "query_completed_job": (*boincCall).queryCompletedJob,
			"abort_batch": (*boincCall).abortBatch, "abort_jobs": (*boincCall).abortJobs, "retire_batch": (*boincCall).retireBatch,
			"set_expire_time": (*boincCall).setExpireTime, "get_templates": (*boincCall).getTemplates, "ping": (*boincCall).ping,
		}),
		"POST job_file.php": a.boinc(limit.Spooled, maxUpload, map[string]boincOp{
			"query_files": (*boincCall).queryFiles, "upload_files": (*boincCall).uploadFiles,
		}),
		"GET get_output.php":  {Handle: a.boincOutput((*boincFetch).byName), Bound: limit.Small},
		"GET get_output2.php": {Handle: a.boincOutput((*boincFetch).byID), Bound: limit.Small},
	}
}

// Authenticator returns the authenticator that a token's bearer enters in BOINC's clients. These
// send checksums of it that a server can compare only if it has the authenticator. It is therefore
// not the token, since the server stores only the token's hash. key is the project's secret.
func Authenticator(key, tokenHash string) string {
	mac := hmac.New(sha256.New, []byte("authenticators of tokens\x00"+key))
	mac.Write([]byte(tokenHash))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// bearerOf returns the token for which is reports true of its authenticator.
func (a *API) bearerOf(tx *store.View, is func(authenticator string) bool) (store.Token, error) {
	list, err := tx.Tokens()
	if err != nil {
		return store.Token{}, err
	}
	for _, t := range list {
		if t.RevokedTime.IsZero() && is(Authenticator(a.Key, t.Hash)) {
			return t, nil
		}
	}
	return store.Token{}, faultf(http.StatusUnauthorized, "ask the project's operator: starling-server token authenticator shows it", "the authenticator is not known, or its token was revoked")
}

func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// A boincOp answers a request.
type boincOp func(*boincCall) error

// A boincCall is a request of BOINC's with its answer.
type boincCall struct {
	*API
	http    *http.Request
	gate    *gate
	most    int64             // bytes of the request without files
	parts   *multipart.Reader // that follow the request (nil: none)
	release func()            // releases the memory (nil: none is held)
	refused error             // of admit
	token   store.Token
	in      boincRequest
	out     bxml.Writer
}

// boincRequest has the elements of all the requests.
type boincRequest struct {
	Op            string
	Authenticator string
	AppName       string
	BatchID       string
	BatchNames    []string
	ExpireTime    float64
	CPUTime       float64
	JobDetails    float64
	JobID         string
	JobNames      []string
	Files         []string

	Batch boincBatch
}

// boinc answers requests, which come as the form value request.
func (a *API) boinc(kept limit.Place, most int64, ops map[string]boincOp) limit.Route {
	handle := func(w http.ResponseWriter, r *http.Request) {
		c := &boincCall{API: a, http: r}
		err := c.answer(kept, ops)
		if c.release != nil {
			defer c.release()
		}
		if err != nil {
			c.out = bxml.Writer{}
			c.error(err)
		}
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		outer := cmp.Or(c.in.Op, "reply")
		var all bxml.Writer
		all.Raw("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n")
		all.Open(outer)
		all.Raw(string(c.out.Bytes()))
		all.Close(outer)
		_, _ = w.Write(all.Bytes())
	}
	return limit.Route{Handle: handle, Bound: limit.Bound{Stranger: maxHead, Most: most, Kept: kept}}
}

// answer reads a request up to its authenticator, and reads and answers the rest if that is valid.
func (c *boincCall) answer(kept limit.Place, ops map[string]boincOp) error {
	c.most = maxBody
	if kept == limit.Spooled {
		c.most = maxNames
	}
	c.gate = &gate{r: c.http.Body, left: maxHead}
	value, parts, err := requestOf(c.http.Header.Get("Content-Type"), c.gate)
	if err != nil {
		return err
	}
	c.parts = parts
	op, err := c.read(bufio.NewReader(io.LimitReader(value, c.most)), ops)
	if err != nil {
		return err
	}
	return op(c)
}

// admit lets the rest of a request in that shows a token's authenticator.
func (c *boincCall) admit() (err error) {
	defer func() { c.refused = err }()
	shown := strings.TrimSpace(c.in.Authenticator)
	c.token, err = store.Read(c.http.Context(), c.Store, func(tx *store.View) (store.Token, error) {
		return c.bearerOf(tx, func(authenticator string) bool { return same(authenticator, shown) })
	})
	if err == nil {
		err = c.used(c.http.Context(), c.token)
	}
	if err == nil {
		c.release, err = c.hold(c.http, c.most)
	}
	c.gate.open = err == nil
	return err
}

// error writes why a request is refused.
func (c *boincCall) error(err error) {
	f := c.faultOf(err)
	c.out.Open("error")
	c.out.Int("error_num", -1)
	c.out.Text("error_msg", f.Error())
	c.out.Close("error")
}

func (c *boincCall) success() error {
	c.out.Int("success", 1)
	return nil
}

func (c *boincCall) ping() error {
	if err := c.Store.View(c.http.Context(), func(tx *store.View) error { _, err := tx.Identity(); return err }); err != nil {
		return err
	}
	return c.success()
}
