package server_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/api"
	apiclient "github.com/starling-grid/starling/server/api/client"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// A program is a client of the API.
type program struct {
	t      *testing.T
	base   string
	secret string
}

// token makes a token.
func (w *world) token(name string, apps []string, quota int) program {
	w.t.Helper()
	secret, hash := api.NewToken()
	w.must(w.p.Store.Update(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertToken(store.Token{CreateTime: w.now(), Name: name, Hash: hash, Apps: apps, Quota: quota})
		return err
	}))
	return program{w.t, w.p.Config.MasterURL + "api/v1/", secret}
}

// ask sends a request and decodes the answer. into may be nil. header has names and values.
func (p program) ask(method, path, body string, into any, header ...string) (code int, text string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.secret)
	for pair := range slices.Chunk(header, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		p.t.Fatalf("%s %s: HTTP %d, %q: %v", method, path, res.StatusCode, b, err)
	}
	return res.StatusCode, string(b)
}

type batchAnswer struct {
	ID, Unfinished, Succeeded, Failed, Fetchable int64
	Workunits                                    int
	Fraction                                     float64 `json:"fraction_done"`
	Done, Expired                                bool
}

// A program submits a batch, tracks its progress and fetches its results. A repeated request
// creates nothing new.
func TestAPI(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", []string{"upper"}, 0)
	body := `{"name": "run-1", "app": "upper", "quorum": 1, "priority": 3, "workunits": [
		{"inputs": [{"name": "in", "text": "hello"}]},
		{"name": "second", "inputs": [{"name": "in", "base64": "` + base64.StdEncoding.EncodeToString([]byte("world")) + `"}]}]}`
	var b batchAnswer
	if code, text := p.ask("POST", "batches", body, &b); code != 201 || b.Workunits != 2 || b.Unfinished != 2 || b.Done {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	retire := fmt.Sprintf("batches/%d/retire", b.ID)
	if code, text := p.ask("POST", retire, "", nil); code != 409 || !strings.Contains(text, "is not done") {
		t.Errorf("retired before it is done: HTTP %d, %s", code, text)
	}
	var again batchAnswer
	if code, text := p.ask("POST", "batches", body, &again); code != 200 || again.ID != b.ID || again.Unfinished != 2 || w.status().Workunits.Total != 2 {
		t.Errorf("the same again: HTTP %d, %s; %d workunits", code, text, w.status().Workunits.Total)
	}
	other := strings.Replace(body, "hello", "hallo", 1)
	if code, text := p.ask("POST", "batches", other, nil); code != 409 || !strings.Contains(text, "choose another name") {
		t.Errorf("other jobs under the name: HTTP %d, %s", code, text)
	}
	waited := make(chan batchAnswer)
	go func() {
		var now batchAnswer
		p.ask("GET", fmt.Sprintf("batches/%d?wait=30", b.ID), "", &now)
		waited <- now
	}()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	w.step()
	c.compute(c.fetch())
	w.step()
	if now := <-waited; now.Unfinished == 2 {
		t.Errorf("who waits is told %+v", now)
	}
	testwait.Until(t, "the batch to be done", func() bool {
		c.compute(c.rpc(1))
		w.step()
		p.ask("GET", fmt.Sprintf("batches/%d", b.ID), "", &b)
		return b.Done
	})
	if !b.Done || b.Succeeded != 2 || b.Fetchable != 2 || b.Fraction != 1 {
		t.Fatalf("at the end %+v", b)
	}
	var list struct {
		Workunits []struct {
			Name, State string
			Files       []struct {
				Name string
				Size int64
			}
		}
	}
	p.ask("GET", fmt.Sprintf("batches/%d/workunits", b.ID), "", &list)
	if len(list.Workunits) != 2 || list.Workunits[0].Name != "0" || list.Workunits[1].Name != "second" || list.Workunits[1].State != "canonical" {
		t.Fatalf("workunits %+v", list)
	}
	out := list.Workunits[1].Files[slices.IndexFunc(list.Workunits[1].Files, func(f struct {
		Name string
		Size int64
	},
	) bool {
		return f.Name != "result.json"
	})]
	if code, text := p.ask("GET", fmt.Sprintf("batches/%d/workunits/second/files/%s", b.ID, out.Name), "", nil); code != 200 || text != "WORLD" || out.Size != 5 {
		t.Errorf("%+v: HTTP %d, %q", out, code, text)
	}
	remote := &apiclient.Client{URL: strings.TrimSuffix(p.base, "api/v1/"), Token: p.secret}
	zipped, err := remote.Archive(t.Context(), b.ID)
	w.must(err)
	data, err := io.ReadAll(zipped)
	w.must(err)
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(archive.File) != 4 { // with a result.json each
		t.Fatalf("archive: %v, %+v", err, archive)
	}
	packed, err := fs.ReadFile(archive, "second/"+out.Name)
	if err != nil || string(packed) != "WORLD" {
		t.Errorf("in the archive: %q, %v", packed, err)
	}
	for _, want := range []string{`{"deleted":2}`, `{"deleted":0}`} {
		if code, text := p.ask("POST", retire, "", nil); code != 200 || strings.TrimSpace(text) != want {
			t.Errorf("retired: HTTP %d, %s, want %s", code, text, want)
		}
	}
	for _, path := range []string{"workunits/second/files/" + out.Name, "outputs.zip"} {
		if code, text := p.ask("GET", fmt.Sprintf("batches/%d/%s", b.ID, path), "", nil); code != 410 || !strings.Contains(text, "the batch was retired") {
			t.Errorf("%s of a retired batch: HTTP %d, %s", path, code, text)
		}
	}
	if _, text := p.ask("GET", fmt.Sprintf("batches/%d", b.ID), "", nil); !strings.Contains(text, `"retired":true`) || !strings.Contains(text, `"fetchable":0`) || !strings.Contains(text, `"done":true`) {
		t.Errorf("a retired batch: %s", text)
	}
	// A batch that was purged is done, and is not made again.
	var given batchAnswer
	p.ask("POST", "batches", strings.Replace(body, "run-1", "run-2", 1), &given)
	p.ask("DELETE", fmt.Sprintf("batches/%d", given.ID), "", nil)
	testwait.Until(t, "the batch to be purged", func() bool {
		w.ahead += 10 * 24 * time.Hour
		w.step()
		return w.status().Workunits.Total == 0
	})
	if code, text := p.ask("POST", "batches", body, &b); code != 200 || !b.Done || !b.Expired || w.status().Workunits.Total != 0 {
		t.Errorf("after it was purged: HTTP %d, %s, %d workunits", code, text, w.status().Workunits.Total)
	}
	if code, text := p.ask("GET", fmt.Sprintf("batches/%d/outputs.zip", given.ID), "", nil); code != 410 || !strings.Contains(text, "of which it removes those that were done long ago") {
		t.Errorf("an archive of purged jobs: HTTP %d, %s", code, text)
	}
}

// A workunit that was given up has the exit status and the standard error of its last failed
// attempt. Its batch is found by its name.
func TestAPIFailure(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	body := `{"name": "run-1", "app": "upper", "quorum": 1, "workunits": [{"inputs": [{"name": "in", "text": "hello"}]}]}`
	if code, text := p.ask("POST", "batches", body, nil); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	w.step()
	long := strings.Repeat("x", 2000) + "no such file"
	for i, attempt := range []string{"first", "second", "third", long} { // one more than are allowed
		c := &client{w: w, key: w.user(fmt.Sprint(i, "@example.org")), name: fmt.Sprint("host", i)}
		work := c.fetch()
		c.have = nil
		c.rpc(0, protocol.ReportedResult{
			Name: work.Results[0].Name, State: protocol.ClientComputeError, ExitStatus: i,
			StderrOut: "<core_client_version>8.2.15</core_client_version>\n<stderr_txt>\n" + attempt + "\n\n</stderr_txt>\n",
		})
		w.step()
	}
	var found struct{ Batches []batchAnswer }
	if code, text := p.ask("GET", "batches?name=run-1", "", &found); code != 200 || len(found.Batches) != 1 || found.Batches[0].Failed != 1 {
		t.Fatalf("by name: HTTP %d, %s", code, text)
	}
	if code, text := p.ask("GET", "batches?name=run-2", "", nil); code != 200 || strings.TrimSpace(text) != `{"batches":[]}` {
		t.Errorf("by a name that no batch has: HTTP %d, %s", code, text)
	}
	var list wire.Outcomes
	p.ask("GET", fmt.Sprintf("batches/%d/workunits", found.Batches[0].ID), "", &list)
	if len(list.Workunits) != 1 || list.Workunits[0].Failure == nil {
		t.Fatalf("workunits %+v", list)
	}
	if f := list.Workunits[0].Failure; f.ExitStatus != 3 || f.Stderr != long[len(long)-1000:] {
		t.Errorf("exit status %d, standard error %q", f.ExitStatus, f.Stderr)
	}
}

// The API refuses a request with the reason and a remedy.
func TestAPIRefusals(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	p := w.token("lab", []string{"upper"}, 3)
	one := func(name string, n int) string {
		return `{"name": "` + name + `", "app": "upper", "workunits": [` + strings.TrimSuffix(strings.Repeat(`{"inputs": [{"name": "in", "text": "x"}]},`, n), ",") + `]}`
	}
	for _, tt := range []struct {
		name, method, path, body string
		code                     int
		says                     string
	}{
		{"not JSON", "POST", "batches", "x", 400, "not understood"},
		{"two at a time", "POST", "batches", one("two", 1) + "{}", 400, "follows the batch"},
		{"a misspelt key", "POST", "batches", `{"nome": "a"}`, 400, "nome"},
		{"no name", "POST", "batches", `{"app": "upper", "workunits": [{}]}`, 422, "no name"},
		{"a name that leads elsewhere", "POST", "batches", `{"name": "../x", "app": "upper", "workunits": [{}]}`, 422, "no name"},
		{"nothing to do", "POST", "batches", `{"name": "a", "app": "upper", "workunits": []}`, 422, "0 workunits"},
		{"two of one name", "POST", "batches", `{"name": "a", "app": "upper", "workunits": [{"name": "x"}, {"name": "x"}]}`, 422, "two workunits"},
		{"another application", "POST", "batches", `{"name": "a", "app": "lower", "workunits": [{}]}`, 403, "not for the application"},
		{"no content", "POST", "batches", `{"name": "a", "app": "upper", "workunits": [{"inputs": [{"name": "in"}]}]}`, 422, "no content"},
		{"no base64", "POST", "batches", `{"name": "a2", "app": "upper", "workunits": [{"inputs": [{"name": "in", "base64": "!"}]}]}`, 422, "not base64"},
		{"a quorum that is none", "POST", "batches", `{"name": "a3", "app": "upper", "quorum": -1, "workunits": [{}]}`, 422, "workunit \"0\""},
		{"a quorum of a million", "POST", "batches", `{"name": "a3", "app": "upper", "quorum": 1000000, "workunits": [{}]}`, 422, "1000000 results"},
		{"as many copies", "POST", "estimate", `{"name": "a3", "app": "upper", "targets": 1000000, "workunits": [{}]}`, 422, "1000000 results"},
		{"half a quorum", "POST", "batches", `{"name": "a3", "quorum": 1.5}`, 400, `"quorum" is a number 1.5, want a whole number`},
		{"no list", "POST", "batches", `{"name": "a3", "workunits": null}`, 400, "want [ at byte 32, got null"},
		{"cut off", "POST", "batches", `{"name": "a3"`, 400, "it ends early"},
		{"a webhook to anywhere", "POST", "batches", `{"name": "a4", "app": "upper", "webhook": "http://127.0.0.1:1/x", "workunits": [{}]}`, 422, "no webhooks to http://127.0.0.1:1/x"},
		{"more than the quota", "POST", "batches", one("b", 4), 429, "the batch has 4, and it may have 3"},
		{"no such batch", "GET", "batches/99", "", 404, "no batch 99"},
		{"no such file", "GET", "batches/1/workunits/x/files/server.toml", "", 404, "no "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f struct{ Error, Cure string }
			if code, text := p.ask(tt.method, tt.path, tt.body, &f); code != tt.code || !strings.Contains(f.Error, tt.says) || f.Cure == "" {
				t.Errorf("HTTP %d, %s; want %d and %q", code, text, tt.code, tt.says)
			}
		})
	}
	// A different token has no access to a batch, and a request without a token has no access at
	// all.
	var b batchAnswer
	if code, text := p.ask("POST", "batches", one("c", 2), &b); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	if code, text := p.ask("POST", "batches", one("c", 1), nil); code != 409 {
		t.Errorf("another batch of the name: HTTP %d, %s", code, text)
	}
	other := w.token("other", nil, 0)
	path := fmt.Sprintf("batches/%d", b.ID)
	for _, query := range []string{"?wait=soon", "?wait=-1", "/workunits?after=a"} {
		if code, text := p.ask("GET", path+query, "", nil); code != 400 || !strings.Contains(text, "is not a number from 0") {
			t.Errorf("%s: HTTP %d, %s", query, code, text)
		}
	}
	if code, text := other.ask("GET", path, "", nil); code != 404 {
		t.Errorf("another token: HTTP %d, %s", code, text)
	}
	v.wants(401, "no token", "starling-server token create")(v.do("GET", "api/v1/batches", nil))
	v.wants(200, `"openapi"`)(v.do("GET", "api/v1/openapi.json", nil))
	v.wants(404, `"error":"the project has no such address`, `"cure":"see docs/api.md`)(v.do("GET", "api/v1/batch", nil))
	v.wants(404, `"error":"the project has no such address`)(v.do("POST", "api/v1/", nil))
	v.wants(405, `"error":"this address takes DELETE and GET only"`)(v.do("PUT", "api/v1/batches/7", nil))
	var gone struct{ Cancelled int }
	if code, text := p.ask("DELETE", path, "", &gone); code != 200 || gone.Cancelled != 2 {
		t.Errorf("cancel: HTTP %d, %s", code, text)
	}
	w.must(operate.RevokeToken(t.Context(), w.p, "lab", w.now()))
	if code, text := p.ask("GET", path, "", nil); code != 401 {
		t.Errorf("a revoked token: HTTP %d, %s", code, text)
	}
	if lab := w.token("lab", nil, 0); lab.secret == p.secret {
		t.Error("the same secret twice")
	}
}

// The description and the routes are the same.
func TestAPIDescription(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("api", "openapi.json"))
	must(t, err)
	var d struct {
		Paths map[string]map[string]any
	}
	must(t, json.Unmarshal(text, &d))
	var described, there []string
	for path, methods := range d.Paths {
		for m := range methods {
			if m != "parameters" {
				described = append(described, strings.ToUpper(m)+" "+strings.TrimPrefix(path, "/"))
			}
		}
	}
	rest := regexp.MustCompile(`\.\.\.}`)
	for route := range new(api.API).Routes() {
		if route != "api/v1/{rest...}" { // refuses all others
			there = append(there, rest.ReplaceAllString(route, "}"))
		}
	}
	slices.Sort(described)
	slices.Sort(there)
	if !slices.Equal(described, there) {
		t.Errorf("described are\n%s\nand there are\n%s", strings.Join(described, "\n"), strings.Join(there, "\n"))
	}
}

// A batch's sender is notified when it is done.
func TestAPIWebhook(t *testing.T) {
	t.Parallel()
	told := make(chan string, 9)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		told <- r.URL.Path + " " + string(b)
	}))
	defer hook.Close()
	w, _ := newSite(t, "webhook_urls = []", `webhook_urls = ["`+hook.URL+`/hooks/"]`)
	w.setUp()
	p := w.token("lab", nil, 0)
	body := `{"name": "run-1", "app": "upper", "quorum": 1, "webhook": "` + hook.URL + `/hooks/done", "workunits": [{"inputs": [{"name": "in", "text": "hello"}]}]}`
	if code, text := p.ask("POST", "batches", body, nil); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	w.step()
	if len(told) > 0 {
		t.Errorf("told too early: %s", <-told)
	}
	c.compute(c.fetch())
	for range 9 { // until all daemons have done their part
		w.ahead += time.Minute
		w.step()
	}
	if len(told) != 1 {
		t.Fatalf("told %d times", len(told))
	}
	if got := <-told; !strings.HasPrefix(got, `/hooks/done {`) || !strings.Contains(got, `"name":"run-1"`) || !strings.Contains(got, `"done":true`) {
		t.Errorf("told %s", got)
	}
}
