package server_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

const master = "http://127.0.0.1:8080/demo/"

// A world is a project with an application whose clients are the test itself.
type world struct {
	t     *testing.T
	dir   string
	p     *project.Project
	web   http.Handler
	admin http.Handler
	ahead time.Duration // of the real clock, which the handlers use

	served bool // a server runs its daemons
}

// A ground is the place where the worlds of a test are made. Its zero value is the test's temporary
// folder.
type ground struct {
	database func(testing.TB) string // makes a database and returns its URL (nil: SQLite)
	files    func(testing.TB) string // makes a bucket and returns its place (nil: folders)
	folder   string                  // of the project ("": a temporary one)
	ownKeys  bool                    // each project has keys that no other has
}

// grounds holds the ground of each test that has chosen one, by the test's name.
var grounds sync.Map

// groundOf returns the ground of a test: its own, or the nearest one of the tests that it is
// a subtest of.
func groundOf(tb testing.TB) ground {
	for name := tb.Name(); ; {
		if g, ok := grounds.Load(name); ok {
			return g.(ground)
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return ground{}
		}
		name = name[:i]
	}
}

// choose changes the ground of a test and of its subtests, until it ends.
func choose(tb testing.TB, change func(*ground)) {
	g := groundOf(tb)
	change(&g)
	grounds.Store(tb.Name(), g)
	tb.Cleanup(func() { grounds.Delete(tb.Name()) })
}

func (w *world) now() time.Time { return time.Now().Add(w.ahead) }

// template returns the files of a new project, which most worlds begin as a copy of.
var template = sync.OnceValues(func() (fs.FS, error) {
	dir, err := os.MkdirTemp("", "starling-template-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	if err := operate.Init(context.Background(), dir, operate.NewProject{Name: "Demo", MasterURL: master}); err != nil {
		return nil, err
	}
	files := make(fstest.MapFS)
	return files, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		f := &fstest.MapFile{Mode: info.Mode()}
		if !e.IsDir() {
			f.Data, err = os.ReadFile(filepath.Join(dir, name))
		}
		files[name] = f
		return err
	})
})

func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	g, n := groundOf(t), operate.NewProject{Name: "Demo", MasterURL: master}
	if g.folder == "" {
		g.folder = t.TempDir()
	}
	if g.database != nil {
		n.Database = g.database(t)
	}
	if g.files != nil {
		n.Files = g.files(t)
	}
	w := &world{t: t, dir: filepath.Join(g.folder, "p")}
	if n.Database == "" && n.Files == "" && !g.ownKeys {
		files, err := template()
		w.must(err)
		w.must(os.CopyFS(w.dir, files))
	} else {
		w.must(operate.Init(t.Context(), w.dir, n))
	}
	// Of two for one setting the first holds.
	w.edit(append(slices.Clone(settings), "min_sendwork_interval = 6", "min_sendwork_interval = 0", "delete_delay_hours = 24", "delete_delay_hours = 0")...)
	p, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	w.p = p
	if w.web, w.admin, err = server.New(p, server.Part{}).Handlers(func() {}); err != nil {
		t.Fatal(err)
	}
	return w
}

// edit changes server.toml, in pairs of old and new text.
func (w *world) edit(pairs ...string) {
	w.t.Helper()
	editSettings(w.t, w.dir, pairs...)
}

func editSettings(tb testing.TB, dir string, pairs ...string) {
	tb.Helper()
	name := filepath.Join(dir, "server.toml")
	text, err := os.ReadFile(name)
	must(tb, err)
	must(tb, os.WriteFile(name, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600))
}

// listen opens a port of this computer.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	return l
}

// served runs a server until stop is called. It answers at l, if that is not nil.
func served(t *testing.T, s *server.Server, l net.Listener) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	must(w.t, err)
}

var must = testerr.Must

func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), name)
	w.must(os.WriteFile(path, []byte(text), 0o755))
	return path
}

// setUp adds an application with one version.
func (w *world) setUp() {
	w.t.Helper()
	w.must(operate.AddApp(w.t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "bitwise", Assimilator: "copy"}, w.now()))
	w.version("1.00")
}

func (w *world) version(number string) {
	w.t.Helper()
	w.must(operate.AddVersion(w.t.Context(), w.p, operate.NewVersion{
		App: "upper", Platform: "x86_64-pc-linux-gnu", Number: number, Main: w.file("upper", "#!/bin/sh\n"),
	}, w.now()))
}

func (w *world) user(email string) protocol.Authenticator {
	w.t.Helper()
	key, err := operate.AddUser(w.t.Context(), w.p, email, "", "", w.now())
	w.must(err)
	return key
}

func (w *world) create(params workgen.Params, input string) {
	w.t.Helper()
	g, err := operate.Generator(w.t.Context(), w.p, "upper", w.now())
	w.must(err)
	spec := workgen.Spec{Params: params}
	if input != "" {
		spec.Inputs = []workgen.Given{{Path: w.file("in", input), Logical: "in"}}
	}
	_, err = g.Create(w.t.Context(), []workgen.Spec{spec}, w.now())
	w.must(err)
	w.step()
}

// step runs the daemons, unless they run already: two assimilators would write to the same folder.
func (w *world) step() {
	w.t.Helper()
	if w.served {
		return
	}
	w.must(server.New(w.p, server.Part{}).RunOnce(w.t.Context(), w.now()))
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

// metrics returns the metrics as Prometheus gets them.
func (w *world) metrics() string {
	w.t.Helper()
	req := httptest.NewRequest("GET", "http://127.0.0.1/metrics", nil)
	req.RemoteAddr = "127.0.0.1:1"
	rec := httptest.NewRecorder()
	w.admin.ServeHTTP(rec, req)
	if rec.Code != 200 {
		w.t.Fatalf("metrics: HTTP %d, %s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// A client computes for an account. Outputs are the inputs in capitals, or the text in wrong.
type client struct {
	w     *world
	key   protocol.Authenticator
	host  int64
	seqno int64
	name  string
	wrong string
	lazy  bool // does not upload
	have  []protocol.Result
	took  time.Duration // that a result takes (0: 2 s)
	fpops float64       // its benchmark (0: 1e9)
	cpus  int           // 0: 1

	others  []string // further platforms that it can run
	coprocs []protocol.Coproc

	trickles []protocol.Trickle  // sent with each request
	disk     float64             // bytes free (0: not reported)
	held     []protocol.FileInfo // sticky files
	codeSign string              // the project's key, as far as it is known
	queued   time.Duration       // that its CPU is busy
}

func (c *client) rpc(seconds float64, reports ...protocol.ReportedResult) *protocol.SchedulerReply {
	c.w.t.Helper()
	req := protocol.SchedulerRequest{
		Authenticator: c.key, HostID: c.host, RPCSeqno: c.seqno, Client: protocol.Version{Major: 7, Minor: 20, Release: 5},
		CPUReqSeconds: seconds, Platform: "x86_64-pc-linux-gnu", AltPlatforms: c.others, Results: reports, Trickles: c.trickles, Files: c.held,
		CodeSignKey: c.codeSign, EstimatedDelay: c.queued, Coprocs: c.coprocs,
		Host: protocol.HostInfo{DomainName: c.name, HostCPID: c.name, NCPUs: max(1, c.cpus), Fpops: cmp.Or(c.fpops, 1e9), DiskFree: c.disk},
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

// fetch asks for work and returns the reply.
func (c *client) fetch() *protocol.SchedulerReply {
	c.w.t.Helper()
	reply := c.rpc(1)
	c.have = append(c.have, reply.Results...)
	return reply
}

// getFrom fetches something from another server.
func (w *world) getFrom(url string) (code int, text string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, nil)
	w.must(err)
	res, err := http.DefaultClient.Do(req)
	w.must(err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	w.must(err)
	return res.StatusCode, string(b)
}

// download gets a file as a client does and checks it.
func (c *client) download(f protocol.FileInfo) string {
	c.w.t.Helper()
	url := f.DownloadURLs[0]
	for _, own := range []string{c.w.p.Config.MasterURL, master} {
		url = strings.TrimPrefix(url, own)
	}
	code, text := 0, ""
	if strings.Contains(url, "://") {
		code, text = c.w.getFrom(url)
	} else {
		code, text = c.w.get(url)
	}
	if code != 200 || int64(len(text)) != f.NBytes {
		c.w.t.Fatalf("%s: HTTP %d, %d bytes, want %d", f.Name, code, len(text), f.NBytes)
	}
	return text
}

// compute computes the results in a reply and reports them.
func (c *client) compute(reply *protocol.SchedulerReply) (answer *protocol.SchedulerReply) {
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
			Name: r.Name, State: protocol.ClientUploaded, FinalCPUTime: time.Second,
			FinalElapsedTime: cmp.Or(c.took, 2*time.Second),
		})
	}
	c.have = nil
	answer = c.rpc(0, reports...)
	if acks := answer.ResultAcks; len(acks) != len(reports) {
		c.w.t.Fatalf("acknowledged: %v", acks)
	}
	c.w.step()
	return answer
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
	w.must(w.p.Store.View(w.t.Context(), func(tx *store.View) (err error) {
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

// files counts the remaining files in a tree.
func (w *world) files(t blob.Tree) (n int) {
	w.t.Helper()
	w.must(t.Walk(w.t.Context(), func(string, time.Time) error { n++; return nil }))
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
	found, err := filepath.Glob(filepath.Join(w.dir, "results", "*", workunit))
	w.must(err)
	if len(found) != 1 {
		w.t.Fatalf("outcomes of %s: %v", workunit, found)
	}
	b, err := os.ReadFile(filepath.Join(found[0], "result.json"))
	w.must(err)
	w.must(json.Unmarshal(b, &info))
	if len(info.Files) > 0 {
		b, err = os.ReadFile(filepath.Join(found[0], info.Files[0]))
		w.must(err)
		text = string(b)
	}
	return text, info
}

func publicKey(t *testing.T, w *world) *protocol.PublicKey {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "keys", "code_sign_public"))
	w.must(err)
	key, err := protocol.ParsePublicKey(string(text))
	w.must(err)
	return key
}
