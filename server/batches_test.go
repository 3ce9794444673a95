package server_test

import (
	"archive/zip"
	"net/url"
	"strings"
	"testing"
)

// The holder of a token submits a first batch, follows it, reads why a job failed, and fetches the
// output, all in the browser.
func TestSubmittersPages(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	p := w.token("lab", []string{"upper"}, 0)
	v.wants(200, "<h1>Batches</h1>", "gives you a token")(v.do("GET", "batches", nil))
	v.wants(200, "gives you a token")(v.do("GET", "batches/1", nil))
	v.wants(422, "The token is not known, or was revoked")(v.do("POST", "batches", url.Values{"action": {"login"}, "token": {"starling_x"}}))
	v.wants(200, "This token has no batches yet.")(v.do("POST", "batches", url.Values{"action": {"login"}, "token": {" " + p.secret + "\n"}}))
	form := url.Values{"action": {"submit"}, "name": {"run-1"}, "app": {"lower"}, "lines": {"hello\r\n\r\n<b>world\r\n"}, "input": {"in"}, "quorum": {"1"}}
	v.wants(422, "This token is not for the application &#34;lower&#34;: use one of upper", "&lt;b&gt;world")(v.do("POST", "batches", form))
	form.Set("app", "upper")
	form.Set("quorum", "x")
	v.wants(422, "The quorum is not a number")(v.do("POST", "batches", form))
	form.Set("quorum", "1")
	lines := form["lines"]
	form.Set("lines", "\r\n")
	v.wants(422, "The batch has no jobs")(v.do("POST", "batches", form))
	form["lines"] = lines
	v.wants(200, "<h1>Batch run-1</h1>", "Estimate: ", "Cancel the unfinished jobs")(v.do("POST", "batches", form))
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.compute(c.fetch())
	w.step()
	if _, page := v.do("GET", "batches/1", nil); !strings.Contains(page, "50 %") || !strings.Contains(page, "batches/1/outputs.zip") {
		t.Errorf("half of it is done: %s", page)
	}
	v.wants(200, "Failed jobs", "cancelled")(v.do("POST", "batches/1", url.Values{}))
	w.step()
	v.wants(200, "100 %, done")(v.do("GET", "batches/1", nil))
	_, archive := v.do("GET", "batches/1/outputs.zip", nil)
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	w.must(err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); !strings.Contains(got, "0/out") || !strings.Contains(got, "failed.json") {
		t.Errorf("the archive has %s", got)
	}
	v.wants(403)(v.do("POST", "batches/1", url.Values{}, "Sec-Fetch-Site", "cross-site"))
	other := newVisitor(t, v.base)
	stranger := w.token("other", nil, 0)
	other.wants(200, "This token has no batches yet.")(other.do("POST", "batches", url.Values{"action": {"login"}, "token": {stranger.secret}}))
	for _, method := range []string{"GET", "POST"} {
		other.wants(404, "This token has no batch of this number.")(other.do(method, "batches/1", nil))
	}
	other.wants(404, "Dieses Token hat keinen Auftrag mit dieser Nummer.")(other.do("GET", "batches/1/outputs.zip", nil, "Accept-Language", "de"))
	v.wants(200, "gives you a token")(v.do("POST", "batches", url.Values{"action": {"logout"}}))
	v.wants(200, "gives you a token")(v.do("GET", "batches/1/outputs.zip", nil))
}
