package api

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/store"
)

// BOINC's remote job submission, in a thin translation: requests in XML, the operations of this
// API, answers in XML.
//
// Source: BOINC html/user/submit_rpc_handler.php and job_file.php; clients are lib/boinc_submit.py,
// lib/submit_api.py and lib/remote_submit.cpp.

// BOINCRoutes returns what answers these requests, by paths below the project's URL.
func (a *API) BOINCRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"POST submit_rpc_handler.php": a.boinc(maxBody, map[string]boincOp{
			"create_batch": (*boincCall).createBatch, "estimate_batch": (*boincCall).estimateBatch, "submit_batch": (*boincCall).submitBatch,
			"query_batches": (*boincCall).queryBatches, "query_batch": (*boincCall).queryBatch, "query_batch2": (*boincCall).queryBatch2,
			"query_job": (*boincCall).queryJob, "query_completed_job": (*boincCall).queryCompletedJob,
			"abort_batch": (*boincCall).abortBatch, "abort_jobs": (*boincCall).abortJobs, "retire_batch": (*boincCall).retireBatch,
			"set_expire_time": (*boincCall).setExpireTime, "get_templates": (*boincCall).getTemplates, "ping": (*boincCall).ping,
		}),
		"POST job_file.php": a.boinc(maxUpload, map[string]boincOp{
			"query_files": (*boincCall).queryFiles, "upload_files": (*boincCall).uploadFiles,
		}),
		"GET get_output.php":  a.boincOutput((*boincFetch).byName),
		"GET get_output2.php": a.boincOutput((*boincFetch).byID),
	}
}

// Authenticator is what a token's bearer shows to BOINC's clients. These make checksums of it that
// a server can compare only if it knows it, so it is not the token, of which there is only a hash;
// key is the project's secret.
func Authenticator(key, tokenHash string) string {
	mac := hmac.New(sha256.New, []byte("authenticators of tokens\x00"+key))
	mac.Write([]byte(tokenHash))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// bearerOf returns the token for which is reports true of its authenticator.
func (a *API) bearerOf(tx *store.Tx, is func(authenticator string) bool) (store.Token, error) {
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
	http  *http.Request
	token store.Token
	in    boincRequest
	out   bxml.Writer
}

// boincRequest holds what any of the requests may hold.
type boincRequest struct {
	XMLName       xml.Name
	Authenticator string   `xml:"authenticator"`
	AppName       string   `xml:"app_name"`
	BatchID       string   `xml:"batch_id"`
	BatchNames    []string `xml:"batch_name"`
	ExpireTime    float64  `xml:"expire_time"`
	CPUTime       float64  `xml:"get_cpu_time"`
	JobDetails    float64  `xml:"get_job_details"`
	JobID         string   `xml:"job_id"`
	JobNames      []string `xml:"job_name"`
	Files         []string `xml:"phys_name"`

	Batch boincBatch `xml:"batch"`
}

// boinc answers requests, which come as the form value request.
func (a *API) boinc(most int64, ops map[string]boincOp) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &boincCall{API: a, http: r}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		op, err := c.read(ops)
		if err == nil {
			err = op(c)
		}
		if r.MultipartForm != nil {
			_ = r.MultipartForm.RemoveAll()
		}
		if err != nil {
			c.out = bxml.Writer{}
			c.error(err)
		}
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		outer := cmp.Or(c.in.XMLName.Local, "reply")
		var all bxml.Writer
		all.Raw("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n")
		all.Open(outer)
		all.Raw(string(c.out.Bytes()))
		all.Close(outer)
		_, _ = w.Write(all.Bytes())
	}
}

// read finds out what is asked, and by whom.
func (c *boincCall) read(ops map[string]boincOp) (boincOp, error) {
	const memory = 1 << 20 // the rest goes to temporary files
	if err := c.http.ParseMultipartForm(memory); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, err
		}
		return nil, faultf(http.StatusBadRequest, "send it as the form value request", "the form is not understood: %v", err)
	}
	err := xml.Unmarshal([]byte(c.http.PostFormValue("request")), &c.in)
	op, known := ops[c.in.XMLName.Local]
	switch {
	case err != nil:
		c.in.XMLName.Local = ""
		return nil, faultf(http.StatusBadRequest, "write < as &lt; and & as &amp; in texts", "the request is not understood: %v", err)
	case !known:
		c.in.XMLName.Local = ""
		return nil, faultf(http.StatusBadRequest, "docs/api.md of Starling lists what there is", "there is no such request here")
	case c.in.XMLName.Local == "ping":
		return op, nil
	}
	shown := strings.TrimSpace(c.in.Authenticator)
	err = c.Store.View(c.http.Context(), func(tx *store.Tx) (err error) {
		c.token, err = c.bearerOf(tx, func(authenticator string) bool { return same(authenticator, shown) })
		return err
	})
	if err == nil && time.Since(c.token.UsedTime) > time.Minute {
		err = c.Store.Update(c.http.Context(), func(tx *store.Tx) error { return tx.TokenUsed(c.token.ID, time.Now()) })
	}
	return op, err
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
	if err := c.Store.View(c.http.Context(), func(tx *store.Tx) error { _, err := tx.Identity(); return err }); err != nil {
		return err
	}
	return c.success()
}
