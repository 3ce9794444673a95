package filexfer_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/protocol"
)

// A handler is a file upload handler like BOINC's: it appends at the offset and only relies on the
// data that has arrived.
type handler struct {
	t *testing.T

	mu    sync.Mutex // a connection that is cut orders nothing
	files map[string][]byte
	heads []protocol.UploadRequest
	takes int // bytes of each attempt, then the connection is cut (0: all)
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body := bufio.NewReader(r.Body)
	q, err := protocol.ReadUploadRequest(body)
	if err != nil || r.ContentLength < 0 {
		h.t.Errorf("upload request of %d bytes: %v", r.ContentLength, err)
	}
	h.heads = append(h.heads, q)
	var reply protocol.UploadReply
	switch {
	case q.SizeQuery:
		reply.HasSize, reply.FileSize = true, int64(len(h.files[q.Name]))
	case h.takes > 0:
		b := make([]byte, h.takes)
		n, _ := io.ReadFull(body, b)
		h.files[q.Name] = append(h.files[q.Name][:q.Offset], b[:n]...)
		panic(http.ErrAbortHandler)
	default:
		b, err := io.ReadAll(body)
		if err != nil || int64(len(b)) != q.NBytes-q.Offset {
			h.t.Errorf("%d bytes of data, %v; want exactly %d", len(b), err, q.NBytes-q.Offset)
		}
		h.files[q.Name] = append(h.files[q.Name][:q.Offset], b...)
	}
	_, _ = w.Write(reply.Encode())
}

func newHandler(t *testing.T) *handler {
	return &handler{t: t, files: make(map[string][]byte)}
}

func TestUpload(t *testing.T) {
	for _, tt := range []struct {
		name    string
		size    int
		arrived int // bytes of it that the server has
		retry   bool
		urls    int
		asked   bool // the server is asked how much it has
		sent    int  // bytes (-1: nothing is sent)
	}{
		{"small", 8191, 0, false, 1, false, 8191},
		{"empty", 0, 0, false, 1, false, 0},
		{"empty, again", 0, 0, true, 1, true, 0},
		{"large enough to ask first", 8192, 0, false, 1, true, 8192},
		{"small, again", 100, 40, true, 1, true, 60},
		{"small, several URLs", 100, 0, false, 2, true, 100},
		{"goes on where it stopped", 100_000, 70_000, true, 1, true, 30_000},
		{"all is there", 100_000, 100_000, true, 1, true, -1},
		{"more than all is there", 100, 200, true, 1, true, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHandler(t)
			content := noise(max(tt.size, tt.arrived))
			if tt.arrived > 0 {
				h.files["out"] = bytes.Clone(content[:tt.arrived])
			}
			s := serve(t, h.ServeHTTP)
			u := filexfer.Upload{
				Dir: folder(t, map[string][]byte{"out": content[:tt.size]}), Name: "out",
				URLs:      slices.Repeat([]string{s.URL + "/file_upload_handler"}, tt.urls),
				Signature: vector(t, "upload-cert.sig"), MaxNBytes: 1e6, MD5: md5Hex(content[:tt.size]), Retry: tt.retry,
			}
			must(t, client(nil).Upload(t.Context(), u, nil))
			if !bytes.Equal(h.files["out"], content) {
				t.Errorf("the server has %d bytes, want the %d of the file", len(h.files["out"]), len(content))
			}
			if got := len(h.heads) > 0 && h.heads[0].SizeQuery; got != tt.asked {
				t.Errorf("the server was asked for the size: %v, want %v", got, tt.asked)
			}
			last := h.heads[len(h.heads)-1]
			if last.SizeQuery != (tt.sent < 0) {
				t.Fatalf("last request %+v", last)
			}
			if tt.sent < 0 {
				return
			}
			want := protocol.UploadRequest{
				Client: protocol.CompatVersion, Name: "out", XMLSignature: last.XMLSignature, MaxNBytes: 1e6,
				NBytes: int64(tt.size), Offset: int64(tt.size - tt.sent), MD5: u.MD5,
			}
			if last != want {
				t.Errorf("got head %+v, want %+v", last, want)
			}
			if strings.TrimSpace(last.XMLSignature) != strings.TrimSpace(u.Signature) {
				t.Errorf("the certificate became %q", last.XMLSignature)
			}
		})
	}
}

func TestUploadGoesOnAfterACut(t *testing.T) {
	content := noise(200_000)
	h := newHandler(t)
	s := serve(t, h.ServeHTTP)
	u := filexfer.Upload{
		Dir: folder(t, map[string][]byte{"out": content}), Name: "out", URLs: []string{s.URL},
		Signature: "00\n.\n", MaxNBytes: 1e6, MD5: md5Hex(content),
	}
	h.takes = 80_000
	failure(t, client(nil).Upload(t.Context(), u, nil), 0)
	h.mu.Lock()
	if n := len(h.files["out"]); n != 80_000 {
		t.Fatalf("%d bytes arrived, want 80000", n)
	}
	h.takes, h.heads, u.Retry = 0, nil, true
	h.mu.Unlock()
	must(t, client(nil).Upload(t.Context(), u, nil))
	if len(h.heads) != 2 || h.heads[1].Offset != 80_000 || !bytes.Equal(h.files["out"], content) {
		t.Errorf("requests %+v; the file is complete: %v", h.heads, bytes.Equal(h.files["out"], content))
	}
}

func TestAnswersToUploads(t *testing.T) {
	refusal := func(n int, text string) string {
		return string(protocol.UploadReply{Status: n, Message: text}.Encode())
	}
	for _, tt := range []struct {
		name string
		code int
		body string
		num  int
		text string // in the error ("" means success)
	}{
		{"taken", 200, refusal(0, ""), 0, ""},
		{"transient", 200, refusal(1, "disk is full"), 0, "rejected by the file upload server: disk is full"},
		{"permanent", 200, refusal(-1, "invalid signature"), protocol.ErrNumPermanentHTTP, "invalid signature"},
		{"another status", 200, refusal(-7, "what?"), 0, "what?"},
		{"web page", 200, "<!DOCTYPE html><html><body>Please log in</body></html>", 0, "network login page"},
		{"no status", 200, "<data_server_reply>\n</data_server_reply>\n", 0, "no status"},
		{"nothing", 200, "", 0, "upload reply"},
		{"server error", 500, "", 0, "HTTP 500"},
		{"not found: the file may be wanted yet", 404, refusal(-1, "no"), 0, "HTTP 404"},
		{"too large for a proxy", 413, "", 0, "HTTP 413"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(tt.code)
				_, _ = io.WriteString(w, tt.body)
			})
			dir := folder(t, map[string][]byte{"out": []byte("x")})
			for _, retry := range []bool{false, true} { // the same applies to answers to the size query
				err := client(nil).Upload(t.Context(), filexfer.Upload{Dir: dir, Name: "out", URLs: []string{s.URL}, Retry: retry}, nil)
				if tt.text == "" {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				failure(t, err, tt.num)
				if !strings.Contains(err.Error(), tt.text) || !strings.HasPrefix(err.Error(), "upload out (http://") {
					t.Errorf("got %v, want %q in it", err, tt.text)
				}
			}
		})
	}
}

func TestUploadTriesURLsInTurn(t *testing.T) {
	permanent := protocol.UploadReply{Status: protocol.UploadPermanent, Message: "no"}
	for _, tt := range []struct {
		paths string
		num   int
		text  string
	}{
		{"/no /yes", 0, ""},
		{"/busy /yes /never", 0, ""},
		{"/no /busy", 0, "HTTP 503"},
		{"/busy /no", 0, "HTTP 503"},
		{"/no /no", protocol.ErrNumPermanentHTTP, "rejected"},
	} {
		h := newHandler(t)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/yes":
				h.ServeHTTP(w, r)
			case "/no":
				_, _ = w.Write(permanent.Encode())
			default:
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		var urls []string
		for path := range strings.FieldsSeq(tt.paths) {
			urls = append(urls, s.URL+path)
		}
		dir := folder(t, map[string][]byte{"out": []byte("x")})
		err := client(nil).Upload(t.Context(), filexfer.Upload{Dir: dir, Name: "out", URLs: urls}, nil)
		switch tt.text {
		case "":
			if err != nil || string(h.files["out"]) != "x" {
				t.Errorf("%s: %v, server has %q", tt.paths, err, h.files["out"])
			}
		default:
			failure(t, err, tt.num)
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: got %v, want %q in it", tt.paths, err, tt.text)
			}
		}
		if slices.Contains(s.requests(), "POST /never") {
			t.Errorf("%s: asked %q", tt.paths, s.requests())
		}
	}
}

func TestNothingToUpload(t *testing.T) {
	dir := folder(t, map[string][]byte{"out": nil})
	up := func(name string, urls ...string) error {
		return client(nil).Upload(t.Context(), filexfer.Upload{Dir: dir, Name: name, URLs: urls}, nil)
	}
	failure(t, up("out"), protocol.ErrNumPermanentHTTP)
	failure(t, up("gone", "http://p.example/"), protocol.ErrNumFileMissing)
	failure(t, up("../project/out", "http://p.example/"), 0) // not missing: it may be there later
	if runtime.GOOS != "windows" {                           // there, a link to itself is a missing file
		must(t, os.Symlink("loop", filepath.Join(dir.Name(), "loop")))
		failure(t, up("loop", "http://p.example/"), 0)
	}
}

func TestLargeUploadIsStreamed(t *testing.T) {
	const size = 64 << 20
	dir := folder(t, map[string][]byte{"out": nil})
	if err := os.Truncate(filepath.Join(dir.Name(), "out"), size); err != nil { // a hole: no disk is used
		t.Fatal(err)
	}
	arrived := int64(0)
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		defer r.Body.Close()
		body := bufio.NewReader(r.Body)
		q, err := protocol.ReadUploadRequest(body)
		if err != nil {
			return nil, err
		}
		n, err := body.WriteTo(io.Discard)
		arrived += n
		reply := protocol.UploadReply{HasSize: q.SizeQuery}.Encode()
		return &http.Response{StatusCode: http.StatusOK, Header: make(http.Header), Body: io.NopCloser(bytes.NewReader(reply)), Request: r}, err
	})
	var before, after runtime.MemStats
	var moved atomic.Int64
	u := filexfer.Upload{Dir: dir, Name: "out", URLs: []string{"http://p.example/"}, MaxNBytes: size}
	runtime.ReadMemStats(&before)
	err := client(transport).Upload(t.Context(), u, func(n int64) { moved.Add(n) })
	runtime.ReadMemStats(&after)
	must(t, err)
	if arrived != size || moved.Load() != size {
		t.Errorf("%d bytes arrived and %d were told of, want %d", arrived, moved.Load(), size)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > size/4 {
		t.Errorf("%d bytes of memory for a file of %d", n, size)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A server that answers before it has read everything leaves the transport reading the first
// attempt's body while the second starts.
func TestAnswerBeforeTheBodyIsRead(t *testing.T) {
	content := noise(4 << 20)
	h := newHandler(t)
	attempts := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if attempts++; attempts == 2 { // the first is the size query
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
	u := filexfer.Upload{
		Dir: folder(t, map[string][]byte{"out": content}), Name: "out", URLs: []string{s.URL},
		Signature: "00\n.\n", MaxNBytes: 1e9, MD5: md5Hex(content),
	}
	must(t, client(nil).Upload(t.Context(), u, func(int64) {}))
	if !bytes.Equal(h.files["out"], content) {
		t.Errorf("the server has %d bytes, want the %d of the file", len(h.files["out"]), len(content))
	}
}

// A redirect is followed with the file, or not at all: what answers a GET has seen no file, and its
// refusal does not end the upload.
func TestRedirectedUploads(t *testing.T) {
	h := newHandler(t)
	refusal := protocol.UploadReply{Status: protocol.UploadPermanent, Message: "empty body"}
	to := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			h.ServeHTTP(w, r)
			return
		}
		_, _ = w.Write(refusal.Encode())
	})
	for code, followed := range map[int]bool{301: true, 302: false, 303: false, 307: true, 308: true} {
		for _, size := range []int{100, 100_000} { // the larger one is asked about first
			s := serve(t, http.RedirectHandler(to.URL+"/other", code).ServeHTTP)
			content := noise(size)
			h.files = make(map[string][]byte)
			err := client(nil).Upload(t.Context(), filexfer.Upload{
				Dir: folder(t, map[string][]byte{"out": content}), Name: "out", URLs: []string{s.URL + "/file_upload_handler"}, MaxNBytes: 1e6,
			}, nil)
			if followed {
				if err != nil || !bytes.Equal(h.files["out"], content) {
					t.Errorf("HTTP %d, %d bytes: %v, and %d bytes arrived", code, size, err, len(h.files["out"]))
				}
				continue
			}
			failure(t, err, 0)
			if r, ok := errors.AsType[*httpclient.RedirectError](err); !ok || !strings.Contains(to.URL, r.To) {
				t.Errorf("HTTP %d, %d bytes: %v", code, size, err)
			}
		}
	}
}
