package server_test

import (
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiclient "github.com/starling-grid/starling/server/api/client"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// An input may be on another server, from which computers fetch it.
func TestAPIRemoteInput(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	data := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "far away") }))
	t.Cleanup(data.Close)
	p := w.token("lab", nil, 0)
	sum := md5.Sum([]byte("far away"))
	in := fmt.Sprintf(`"url": "%s/m31.fits", "nbytes": 8, "md5": "%X"`, data.URL, sum)
	body := func(name, in string) string {
		return `{"name": "` + name + `", "app": "upper", "workunits": [{"name": "a", "inputs": [{"name": "in", ` + in + `}]}]}`
	}
	for _, in := range []string{`"url": "` + data.URL + `/m31.fits"`, in + `, "text": "x"`, strings.Replace(in, "http:", "file:", 1)} {
		var f struct{ Error, Cure string }
		if code, text := p.ask("POST", "batches", body("wrong", in), &f); code != 422 || f.Cure == "" {
			t.Errorf("%s: HTTP %d, %s", in, code, text)
		}
	}
	var b batchAnswer
	if code, text := p.ask("POST", "batches", body("right", in), &b); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.compute(c.fetch())
	w.step()
	if code, text := p.ask("GET", fmt.Sprintf("batches/%d/workunits/a/files/out", b.ID), "", nil); code != 200 || text != "FAR AWAY" {
		t.Errorf("HTTP %d, %q", code, text)
	}
}

// The project fetches an input that is to be copied, and computers download it from the project. A
// file that is not on a public address is fetched only where the operator allows it, also where a
// redirect leads there.
func TestAPICopiedInput(t *testing.T) {
	t.Parallel()
	asked := 0
	data := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked++
		if r.Referer() != "" {
			t.Errorf("the next server gets %s", r.Referer())
		}
		switch r.URL.Path {
		case "/moved":
			http.Redirect(rw, r, "/data/m31.fits", http.StatusFound)
		case "/loop":
			http.Redirect(rw, r, "/loop", http.StatusFound)
		case "/out":
			http.Redirect(rw, r, "ftp://example.org/m31.fits", http.StatusFound)
		case "/data/m31.fits":
			_, _ = io.WriteString(rw, "far away")
		case "/large":
			_, _ = rw.Write(make([]byte, 2001))
		default:
			http.NotFound(rw, r)
		}
	}))
	t.Cleanup(data.Close)
	body := func(name string, inputs ...string) string {
		var wus []string
		for _, in := range inputs {
			wus = append(wus, `{"inputs": [{"name": "in", "copy": true, `+in+`}]}`)
		}
		return `{"name": "` + name + `", "app": "upper", "workunits": [` + strings.Join(wus, ", ") + `]}`
	}
	file := `"url": "` + data.URL + `/data/m31.fits"`
	sum := fmt.Sprintf("%X", md5.Sum([]byte("far away")))

	careful, _ := newSite(t)
	careful.setUp()
	var f struct{ Error, Cure string }
	if code, text := careful.token("lab", nil, 0).ask("POST", "batches", body("a", file), &f); code != 422 || !strings.Contains(f.Error, "127.0.0.1 is not a public address") || !strings.Contains(f.Cure, "fetch_private") {
		t.Errorf("a private address: HTTP %d, %s", code, text)
	}
	if asked != 0 {
		t.Errorf("asked %d times", asked)
	}

	w, _ := newSite(t, "fetch_private = false", "fetch_private = true", "max_fetch_mb = 1000", "max_fetch_mb = 0.002")
	w.setUp()
	p := w.token("lab", nil, 0)
	for _, tt := range []struct{ in, says string }{
		{`"url": "file:///etc/passwd"`, "want an http:// or https:// address"},
		{`"url": "` + data.URL + `/nothing"`, "404"},
		{`"url": "` + data.URL + `/loop"`, "redirects more than"},
		{`"url": "` + data.URL + `/out"`, "want an http:// or https:// address"},
		{`"url": "` + data.URL + `/large"`, "at most 0.002 MB"},
		{`"url": "http://127.0.0.1:1/x"`, "refused"},
		{`"url": "http://nowhere.invalid/x"`, "nowhere.invalid"},
		{file + `, "md5": "` + strings.Repeat("0", 32) + `"`, "its MD5 is " + strings.ToLower(sum)},
		{file + `, "md5": "../../x"`, "has the MD5"},
		{file + `, "nbytes": 9`, "it has 8 bytes"},
		{file + `, "text": "x"`, "has a URL and content"},
		{`"md5": "x"`, "has no URL"},
	} {
		var f struct {
			Error, Cure string
			Workunit    *int
		}
		if code, text := p.ask("POST", "batches", body("wrong", tt.in), &f); code != 422 || !strings.Contains(f.Error, tt.says) || f.Cure == "" || f.Workunit == nil {
			t.Errorf("%s: HTTP %d, %s, want %q", tt.in, code, text, tt.says)
		}
	}
	asked = 0
	var b batchAnswer
	right := []string{file + `, "md5": "` + sum + `", "nbytes": 8`, `"url": "` + data.URL + `/moved"`, file}
	if code, text := p.ask("POST", "batches", body("right", right...), &b); code != 201 || asked != 3 { // and once after the redirect
		t.Fatalf("HTTP %d, %s; asked %d times", code, text, asked)
	}
	if code, text := p.ask("POST", "batches", body("again", right[0]), nil); code != 201 || asked != 3 {
		t.Errorf("a file that is there: HTTP %d, %s; asked %d times", code, text, asked)
	}
	data.Close()
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.compute(c.fetch())
	w.step()
	if code, text := p.ask("GET", fmt.Sprintf("batches/%d/workunits/0/files/out", b.ID), "", nil); code != 200 || text != "FAR AWAY" {
		t.Errorf("HTTP %d, %q", code, text)
	}
}

// Files can be uploaded before the batch that names them.
func TestAPIUpload(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	remote := &apiclient.Client{URL: strings.TrimSuffix(p.base, "api/v1/"), Token: p.secret}
	w.must(remote.Upload(t.Context(), "data.txt", []byte("large")))
	for range 2 { // an answer may be lost
		if code, text := p.ask("PUT", "files/data.txt", "large", nil); code != 200 || !strings.Contains(text, `"size":5`) {
			t.Fatalf("HTTP %d, %s", code, text)
		}
	}
	body := `{"name": "run-1", "app": "upper", "workunits": [{"name": "a", "priority": 4, "fpops_est": 5e9, "inputs": [{"staged": "data.txt"}]}]}`
	for _, tt := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"PUT", "files/data.txt", "other", 409, "other content"},
		{"PUT", "files/a%2Fb", "x", 422, "no name for a file"},
		{"POST", "batches", strings.NewReplacer("data.txt", "nothing", "run-1", "run-0").Replace(body), 422, "which the project does not have"},
		{"POST", "batches", strings.NewReplacer(`"staged"`, `"text": "x", "staged"`, "run-1", "run-0").Replace(body), 422, "and has a URL or content"},
	} {
		var f struct{ Error, Cure string }
		if code, text := p.ask(tt.method, tt.path, tt.body, &f); code != tt.code || !strings.Contains(f.Error, tt.says) || f.Cure == "" {
			t.Errorf("%s %s: HTTP %d, %s", tt.method, tt.path, code, text)
		}
	}
	if code, _ := w.token("other", nil, 0).ask("POST", "batches", body, nil); code != 422 {
		t.Errorf("another token's file: HTTP %d", code)
	}
	var b batchAnswer
	if code, text := p.ask("POST", "batches", body, &b); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	if is, err := remote.Batch(t.Context(), b.ID); err != nil || is.Name != "run-1" || is.Workunits != 1 {
		t.Errorf("the batch is %+v, %v", is, err)
	}
	if _, ok := errors.AsType[*wire.Fault](remote.Upload(t.Context(), "data.txt", []byte("other"))); !ok {
		t.Error("a file was replaced")
	}
	wu := storetest.Get(t, w.p.Store, (*store.View).WorkunitByName, fmt.Sprintf("api%d_a", b.ID))
	if wu.Priority != 0 || wu.OwnPriority != 4 || wu.RscFpopsEst != 5e9 || !strings.Contains(wu.XMLDoc, "<open_name>data.txt</open_name>") {
		t.Errorf("the workunit is %+v", wu)
	}
}
