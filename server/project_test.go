package server_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

const master = "http://127.0.0.1:8080/demo/"

// A world is a project with an application whose clients are the test itself.
type world struct {
	t     *testing.T
	dir   string
	p     *server.Project
	web   http.Handler
	ahead time.Duration // of the real clock, by which the handlers go
}

// database is where a world's database is: "" beside its settings.
var database = func(testing.TB) string { return "" }

// place is where a world's files are: "" in folders beside its settings.
var place = func(testing.TB) string { return "" }

func (w *world) now() time.Time { return time.Now().Add(w.ahead) }

func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "p")}
	w.must(server.Init(t.Context(), w.dir, server.NewProject{Name: "Demo", MasterURL: master, Database: database(t), Files: place(t)}))
	w.edit(append([]string{"min_sendwork_interval = 6", "min_sendwork_interval = 0"}, settings...)...)
	p, err := server.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	w.p = p
	if w.web, err = p.Handler(func() {}); err != nil {
		t.Fatal(err)
	}
	return w
}

// edit changes server.toml, in pairs of old and new text.
func (w *world) edit(pairs ...string) {
	w.t.Helper()
	name := filepath.Join(w.dir, "server.toml")
	text, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), name)
	w.must(os.WriteFile(path, []byte(text), 0o755))
	return path
}

// setUp adds an application with one version.
func (w *world) setUp() {
	w.t.Helper()
	w.must(w.p.AddApp(w.t.Context(), server.NewApp{Name: "upper", Validator: "bitwise", Assimilator: "copy"}, w.now()))
	w.must(w.p.AddVersion(w.t.Context(), server.NewVersion{
		App: "upper", Platform: "x86_64-pc-linux-gnu", Number: "1.00", Main: w.file("upper", "program"),
	}, w.now()))
}

func (w *world) user(email string) protocol.Authenticator {
	w.t.Helper()
	key, err := w.p.AddUser(w.t.Context(), email, "", "", w.now())
	w.must(err)
	return key
}

func (w *world) create(params workgen.Params, input string) {
	w.t.Helper()
	g, err := w.p.Generator(w.t.Context(), "upper", w.now())
	w.must(err)
	spec := workgen.Spec{Params: params}
	if input != "" {
		spec.Inputs = []workgen.Given{{Path: w.file("in", input), Logical: "in"}}
	}
	_, err = g.Create(w.t.Context(), []workgen.Spec{spec}, w.now())
	w.must(err)
	w.step()
}

// step lets the daemons work.
func (w *world) step() {
	w.t.Helper()
	w.must(w.p.RunOnce(w.t.Context(), w.now()))
}

func (w *world) do(method, target string, body io.Reader, header ...string) *http.Response {
	w.t.Helper()
	req := httptest.NewRequest(method, target, body)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.web.ServeHTTP(rec, req)
	return rec.Result()
}

func (w *world) get(target string, header ...string) (int, string) {
	w.t.Helper()
	res := w.do("GET", master+target, nil, header...)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	w.must(err)
	return res.StatusCode, string(b)
}

// A client computes for an account: outputs are the inputs in capitals, or
// what wrong says.
type client struct {
	w     *world
	key   protocol.Authenticator
	host  int64
	seqno int64
	name  string
	wrong string
	lazy  bool // does not upload
	have  []protocol.Result

	trickles []protocol.Trickle  // sent with each request
	disk     float64             // bytes free; 0 not told
	held     []protocol.FileInfo // sticky files
}

func (c *client) rpc(seconds float64, reports ...protocol.ReportedResult) *protocol.SchedulerReply {
	c.w.t.Helper()
	req := protocol.SchedulerRequest{
		Authenticator: c.key, HostID: c.host, RPCSeqno: c.seqno, Client: protocol.Version{Major: 7, Minor: 20, Release: 5},
		CPUReqSeconds: seconds, Platform: "x86_64-pc-linux-gnu", Results: reports, Trickles: c.trickles, Files: c.held,
		Host: protocol.HostInfo{DomainName: c.name, HostCPID: c.name, NCPUs: 1, Fpops: 1e9, DiskFree: c.disk},
	}
	for _, r := range c.have {
		req.OtherResults = append(req.OtherResults, protocol.OtherResult{Name: r.Name})
	}
	res := c.w.do("POST", master+"cgi", bytes.NewReader(req.Encode()))
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	c.w.must(err)
	reply, err := protocol.ParseSchedulerReply(b)
	c.w.must(err)
	c.seqno++
	if reply.HostID != 0 {
		c.host, c.seqno = reply.HostID, 1
	}
	return reply
}

// fetch asks for work and returns what came.
func (c *client) fetch() *protocol.SchedulerReply {
	c.w.t.Helper()
	reply := c.rpc(1)
	c.have = append(c.have, reply.Results...)
	return reply
}

// download gets a file as a client does and checks it.
func (c *client) download(f protocol.FileInfo) string {
	c.w.t.Helper()
	code, text := c.w.get(strings.TrimPrefix(f.DownloadURLs[0], master))
	if code != 200 || int64(len(text)) != f.NBytes {
		c.w.t.Fatalf("%s: HTTP %d, %d bytes, want %d", f.Name, code, len(text), f.NBytes)
	}
	return text
}

// compute does what a reply brought and reports it.
func (c *client) compute(reply *protocol.SchedulerReply) {
	c.w.t.Helper()
	files := make(map[string]protocol.FileInfo)
	for _, f := range reply.Files {
		files[f.Name] = f
	}
	var reports []protocol.ReportedResult
	for _, r := range reply.Results {
		out := "NOTHING"
		for _, wu := range reply.Workunits {
			if wu.Name == r.WorkunitName && len(wu.FileRefs) > 0 {
				out = strings.ToUpper(c.download(files[wu.FileRefs[0].FileName]))
			}
		}
		if c.wrong != "" {
			out = c.wrong
		}
		if !c.lazy {
			c.upload(files[r.FileRefs[0].FileName], out)
		}
		reports = append(reports, protocol.ReportedResult{
			Name: r.Name, State: protocol.ClientUploaded, FinalCPUTime: time.Second, FinalElapsedTime: 2 * time.Second,
		})
	}
	c.have = nil
	if acks := c.rpc(0, reports...).ResultAcks; len(acks) != len(reports) {
		c.w.t.Fatalf("acknowledged: %v", acks)
	}
	c.w.step()
}

func (c *client) upload(f protocol.FileInfo, data string) {
	c.w.t.Helper()
	sum := md5.Sum([]byte(data))
	head := protocol.UploadRequest{
		Name: f.Name, XMLSignature: f.XMLSignature, MaxNBytes: f.MaxNBytes, NBytes: int64(len(data)),
		MD5: hex.EncodeToString(sum[:]),
	}.Encode()
	res := c.w.do("POST", f.UploadURLs[0], io.MultiReader(bytes.NewReader(head), strings.NewReader(data)))
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	c.w.must(err)
	if reply, err := protocol.ParseUploadReply(b); err != nil || reply.Status != 0 {
		c.w.t.Fatalf("upload: %+v, %v", reply, err)
	}
}

func (w *world) status() (st store.Status) {
	w.t.Helper()
	w.must(w.p.Store.View(w.t.Context(), func(tx *store.Tx) (err error) {
		if st, err = tx.Status(w.now().Unix()); err != nil {
			return err
		}
		wrong, err := tx.Doctor()
		for _, s := range wrong {
			w.t.Error(s)
		}
		return err
	}))
	return st
}

// files counts what is left in a tree of files.
func (w *world) files(t blob.Tree) (n int) {
	w.t.Helper()
	w.must(t.Walk(func(string, time.Time) error { n++; return nil }))
	return n
}

func (w *world) outcome(workunit string) (text string, info struct {
	Canonical struct {
		Result string  `json:"result"`
		Credit float64 `json:"credit"`
	} `json:"canonical"`
	Errors []string `json:"errors"`
	Files  []string `json:"files"`
},
) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "results", workunit, "result.json"))
	w.must(err)
	w.must(json.Unmarshal(b, &info))
	if len(info.Files) > 0 {
		b, err = os.ReadFile(filepath.Join(w.dir, "results", workunit, info.Files[0]))
		w.must(err)
		text = string(b)
	}
	return text, info
}

func TestFromWorkunitToCredit(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	b := &client{w: w, key: w.user("b@example.org"), name: "b"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 2, RscFpopsEst: 4.32e13}, "hello")
	work := a.fetch()
	if len(work.Results) != 1 {
		t.Fatalf("got %d results: %v", len(work.Results), work.Messages)
	}
	program := work.Files[0]
	if err := publicKey(t, w).VerifyText(a.download(program), program.Signature); err != nil || !program.Executable {
		t.Errorf("program %+v: %v", program, err)
	}
	a.compute(work)
	if st := w.status(); st.Workunits.Unfinished != 1 || st.Credit != 0 {
		t.Errorf("after one of two: %+v", st.Workunits)
	}
	b.compute(b.fetch())
	st := w.status()
	if !st.Done || st.Workunits.Canonical != 1 || st.Results.ByValidateState["valid"] != 2 || st.Results.Granted != 2 {
		t.Errorf("at the end: %+v", st)
	}
	// 200 cobblestones for a day of 1 GFLOPS; this was half a day, computed twice.
	if st.Credit < 199.999 || st.Credit > 200.001 {
		t.Errorf("credit %v, want 200", st.Credit)
	}
	text, info := w.outcome("wu")
	if text != "HELLO" || info.Canonical.Result != "wu_0" || info.Canonical.Credit < 99.999 {
		t.Errorf("outcome %q, %+v", text, info)
	}
	if n := w.files(w.p.Upload); n != 0 {
		t.Errorf("%d output files are left", n)
	}
	if n := w.files(w.p.Download); n != 1 {
		t.Errorf("%d files are left to download, want the program", n)
	}
	if got := a.rpc(0).User.TotalCredit; got < 99.999 {
		t.Errorf("the client is told of credit %v", got)
	}
}

func publicKey(t *testing.T, w *world) *protocol.PublicKey {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "keys", "code_sign_public"))
	w.must(err)
	key, err := protocol.ParsePublicKey(string(text))
	w.must(err)
	return key
}

func TestAWrongResultIsOutvoted(t *testing.T) {
	w := newWorld(t, "one_result_per_user_per_wu = false", "one_result_per_user_per_wu = true")
	w.setUp()
	w.create(workgen.Params{Name: "wu", MinQuorum: 2}, "hello")
	for i, wrong := range []string{"bogus", "", ""} {
		c := &client{w: w, key: w.user(fmt.Sprintf("%d@example.org", i)), name: fmt.Sprint(i), wrong: wrong}
		work := c.fetch()
		if len(work.Results) != 1 {
			t.Fatalf("client %d got %d results: %v", i, len(work.Results), work.Messages)
		}
		c.compute(work)
	}
	st := w.status()
	if !st.Done || st.Results.ByValidateState["valid"] != 2 || st.Results.ByValidateState["invalid"] != 1 || st.Results.Granted != 2 {
		t.Errorf("%+v", st)
	}
	if text, _ := w.outcome("wu"); text != "HELLO" {
		t.Errorf("outcome %q", text)
	}
}

func TestALateResultIsComparedAndRewarded(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", TargetNResults: 2}, "hello")
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	b := &client{w: w, key: w.user("b@example.org"), name: "b"}
	early, late := a.fetch(), b.fetch()
	a.compute(early)
	if st := w.status(); !st.Done || st.Results.ByServerState["in_progress"] != 1 || w.files(w.p.Upload) != 1 {
		t.Errorf("the canonical output must stay for the result that is out: %+v", st)
	}
	b.compute(late)
	if st := w.status(); st.Results.Granted != 2 || st.Workunits.FilesDeleted != 1 || w.files(w.p.Upload) != 0 {
		t.Errorf("%+v", st)
	}
}

// A client whose upload was refused for good reports success all the same.
func TestSuccessWithoutOutputIsNone(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", MaxErrorResults: 1, MaxTotalResults: 3}, "hello")
	for _, name := range []string{"a", "b"} {
		c := &client{w: w, key: w.user(name + "@example.org"), name: name, lazy: true}
		c.compute(c.fetch())
	}
	st := w.status()
	if st.Results.ByOutcome["validate_error"] != 2 || st.Workunits.Error != 1 || !st.Done || st.Credit != 0 {
		t.Errorf("%+v", st)
	}
	if _, info := w.outcome("wu"); len(info.Errors) != 1 || info.Errors[0] != "too many error results" {
		t.Errorf("outcome %+v", info)
	}
}

func TestTimeOut(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", DelayBound: 60}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.fetch()
	w.ahead = 2 * time.Minute
	w.step()
	st := w.status()
	if st.Results.ByOutcome["no_reply"] != 1 || st.Results.ByServerState["unsent"] != 1 {
		t.Errorf("%+v", st.Results)
	}
}

func TestSharedInputsStayForTheLast(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "a"}, "same")
	w.create(workgen.Params{Name: "b"}, "same")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	work := c.fetch()
	if len(work.Results) != 1 {
		t.Fatalf("%d results", len(work.Results))
	}
	c.compute(work)
	if n := w.files(w.p.Download); n != 2 {
		t.Errorf("%d files, want program and input", n)
	}
	c.compute(c.fetch())
	if n := w.files(w.p.Download); n != 1 {
		t.Errorf("%d files, want the program", n)
	}
}

func TestWithoutItsTemplateAWorkunitWaits(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	g, err := w.p.Generator(t.Context(), "upper", w.now())
	w.must(err)
	_, err = g.Create(t.Context(), []workgen.Spec{{Params: workgen.Params{Name: "wu"}}}, w.now())
	w.must(err)
	path := filepath.Join(w.dir, "templates", "upper_out")
	w.must(os.Rename(path, path+".away"))
	w.step()
	w.must(os.Rename(path+".away", path))
	w.step()
	if n := w.status().Results.Total; n != 0 {
		t.Errorf("%d results before it is time to try again", n)
	}
	w.ahead = time.Hour
	w.step()
	if n := w.status().Results.Total; n != 1 {
		t.Errorf("%d results, want 1", n)
	}
}

func TestAccountCalls(t *testing.T) {
	w := newWorld(t)
	key, err := w.p.AddUser(t.Context(), "Ada@example.org", "", "secret7", w.now())
	w.must(err)
	hash := protocol.PasswordHash("secret7", "ada@example.org")
	q := url.QueryEscape
	for _, tt := range []struct {
		name, call string
		key        protocol.Authenticator // "": some key
		num        int
	}{
		{"right password", "lookup_account.php?email_addr=" + q("Ada@Example.org") + "&passwd_hash=" + hash, key, 0},
		{"wrong password", "lookup_account.php?email_addr=ada@example.org&passwd_hash=" + protocol.PasswordHash("x", "ada@example.org"), "", -206},
		{"the key in place of the password", "lookup_account.php?email_addr=ada@example.org&passwd_hash=" + protocol.PasswordHash(string(key), "ada@example.org"), key, 0},
		{"nobody", "lookup_account.php?email_addr=nobody@example.org&passwd_hash=" + hash, "", -136},
		{"made again with the same password", "create_account.php?email_addr=ada@example.org&user_name=Ada&passwd_hash=" + hash, key, 0},
		{"taken", "create_account.php?email_addr=ada@example.org&user_name=Ada&passwd_hash=" + strings.Repeat("0", 32), "", -137},
		{"new", "create_account.php?email_addr=b@example.org&user_name=B&passwd_hash=" + hash, "", 0},
		{"no e-mail address", "create_account.php?email_addr=b&user_name=B&passwd_hash=" + hash, "", -205},
		{"no name", "create_account.php?email_addr=c@example.org&passwd_hash=" + hash, "", -188},
		{"a hash that is none", "create_account.php?email_addr=c@example.org&user_name=C&passwd_hash=xyz", "", -206},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, body := w.get(tt.call)
			got, err := protocol.ParseAccountReply([]byte(body))
			num := 0
			if e := (*protocol.AccountError)(nil); errors.As(err, &e) {
				num = e.Num
			} else if err != nil {
				t.Fatal(err)
			}
			if code != 200 || num != tt.num || tt.key != "" && got != tt.key || num == 0 && len(got) != 32 {
				t.Errorf("HTTP %d, key %q, error %d; want %d", code, string(got), num, tt.num)
			}
		})
	}
	if code, body := w.get("lookup_account.php?email_addr=ada@example.org"); code != 200 || !strings.Contains(body, "<success/>") {
		t.Errorf("HTTP %d, %s", code, body)
	}
}

func TestPages(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	_, home := w.get("")
	if urls, err := protocol.SchedulerURLs([]byte(home)); err != nil || len(urls) != 1 || urls[0] != master+"cgi" {
		t.Errorf("got %v, %v", urls, err)
	}
	for line := range strings.SplitSeq(home, "\n") {
		if strings.Contains(line, "scheduler") && len(line) > 200 {
			t.Errorf("clients read 255 bytes of the line %q", line)
		}
	}
	_, config := w.get("get_project_config.php")
	if c, err := protocol.ParseProjectConfig([]byte(config)); err != nil || c.Name != "Demo" || c.MasterURL != master || !strings.Contains(config, "x86_64-pc-linux-gnu") {
		t.Errorf("got %s, %v", config, err)
	}
	for _, page := range []string{"status", "status?xml=1", "status?json=1", "metrics"} {
		if code, body := w.get(page); code != 200 || !strings.Contains(strings.ToLower(body), "results") {
			t.Errorf("%s: HTTP %d, %s", page, code, body)
		}
	}
	for _, page := range []string{"nothing", "download/1/x", "download/1/..%2f..%2fserver.toml", "keys/upload_private"} {
		if code, _ := w.get(page); code != 404 {
			t.Errorf("%s: HTTP %d, want 404", page, code)
		}
	}
}

func TestDownloadsResume(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	name := "upper_1.00_x86_64-pc-linux-gnu"
	path := "download/" + protocol.DirHash(name, 1024) + "/" + name
	code, body := w.get(path, "Range", "bytes=4-", "Accept-Encoding", "gzip")
	if code != 206 || body != "ram" {
		t.Errorf("HTTP %d, %q", code, body)
	}
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"an unknown key", "daily_result_quota = 100", "daily_result_qota = 100", "daily_result_qota: unknown key, did you mean daily_result_quota?"},
		{"the wrong kind", "daily_result_quota = 100", `daily_result_quota = "many"`, `daily_result_quota: "many" is not a whole number`},
		{"a bad value", "daily_result_quota = 100", "daily_result_quota = -1", "daily_result_quota: -1 is out of range, want 0 to 1e+06"},
		{"a host without a dot", master, "http://localhost/", "master_url: "},
		{"a version that is none", `min_core_version = ""`, `min_core_version = "7"`, "is not a version, want MAJOR.MINOR.RELEASE"},
		{"not canonical", master, strings.TrimSuffix(master, "/"), "master_url: "},
		{
			"an unknown key of a plan class", `mail_from = ""`, "mail_from = \"\"\n[plan_class.mt]\nmin_cpus = 2",
			"plan_class.mt.min_cpus: unknown key, did you mean plan_class.mt.min_ncpus?",
		},
		{
			"a plan class for a GPU", `mail_from = ""`, "mail_from = \"\"\n[plan_class.cuda]\ngpu_type = \"nvidia\"",
			"plan_class.cuda.gpu_type: tasks for GPUs are not supported",
		},
		{"an address that is none", `listen = ""`, `listen = "here"`, "want HOST:PORT or :PORT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.edit(tt.old, tt.new)
			_, err := server.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "server.toml:") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestInit(t *testing.T) {
	dir := t.TempDir()
	if err := server.Init(t.Context(), dir, server.NewProject{Name: "X", MasterURL: "http://localhost:8080/"}); err == nil || !strings.Contains(err.Error(), "dot") {
		t.Errorf("a URL that clients refuse: got %v", err)
	}
	if err := server.Init(t.Context(), dir, server.NewProject{Name: " ", MasterURL: master}); err == nil {
		t.Error("a project without a name was made")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("a refused project left %d files", len(entries))
	}
	if err := server.Init(t.Context(), dir, server.NewProject{Name: "X", MasterURL: master}); err != nil {
		t.Fatal(err)
	}
	if err := server.Init(t.Context(), dir, server.NewProject{Name: "X", MasterURL: master}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("made twice: got %v", err)
	}
	for _, name := range []string{"keys/code_sign_private", "keys/upload_private", "project.db"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want it for its owner only", name, st.Mode(), err)
		}
	}
}

func TestVersions(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	good := server.NewVersion{App: "upper", Platform: "x86_64-pc-linux-gnu", Number: "1.01", Main: w.file("x", "y")}
	for _, tt := range []struct {
		name   string
		change func(v *server.NewVersion)
		want   string
	}{
		{"there already", func(v *server.NewVersion) { v.Number = "1.0" }, "exists already"},
		{"no such app", func(v *server.NewVersion) { v.App = "nope" }, "not found"},
		{"no version", func(v *server.NewVersion) { v.Number = "one" }, "want major and minor"},
		{"version zero", func(v *server.NewVersion) { v.Number = "0.0" }, "want major and minor"},
		{"a strange platform", func(v *server.NewVersion) { v.Platform = "../x" }, "want a name such as"},
		{"no program", func(v *server.NewVersion) { v.Main = "/nowhere" }, "nowhere"},
		{"an empty program", func(v *server.NewVersion) { v.Main = w.file("e", "") }, "is empty"},
		{"a plan class of which nobody knows", func(v *server.NewVersion) { v.PlanClass = "mt" }, "add [plan_class.mt]"},
		{"clients that do not exist", func(v *server.NewVersion) { v.MinCore, v.MaxCore = "8.0", "7.9" }, "there are none"},
		{"plain without a wrapper", func(v *server.NewVersion) { v.Plain = true }, "needs the wrapper"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := good
			tt.change(&v)
			if err := w.p.AddVersion(t.Context(), v, w.now()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	plain := good
	plain.Plain, plain.Wrapper = true, w.file("starling-wrap", "wrapper")
	plain.Files = []workgen.Given{{Path: w.file("data", "d"), Logical: "table"}}
	w.must(w.p.AddVersion(t.Context(), plain, w.now()))
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	refs := c.fetch().AppVersions[0].FileRefs
	if len(refs) != 3 || !refs[0].MainProgram || refs[1].OpenName != "starling_program" || refs[2].OpenName != "table" || !refs[2].CopyFile {
		t.Errorf("got %+v", refs)
	}
}
