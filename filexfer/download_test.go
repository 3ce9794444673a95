package filexfer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/protocol"
)

// give serves content as a file server does, with ranges.
func give(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func zipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, err := z.Write(b)
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestWhatIsNotTheFileIsNotKept(t *testing.T) {
	content := noise(10_000)
	wrong := bytes.Clone(content)
	wrong[5000]++
	signed, sig, key := []byte(vector(t, "content-1.txt")), vector(t, "content-1.txt.sig"), vector(t, "code_sign_public")
	described := filexfer.Download{NBytes: int64(len(content)), MD5: md5Hex(content)}
	app := filexfer.Download{NBytes: int64(len(signed)), Signed: true, Signature: sig, Key: key, Executable: true}
	with := func(d filexfer.Download, change func(*filexfer.Download)) filexfer.Download {
		change(&d)
		return d
	}
	for _, tt := range []struct {
		name  string
		d     filexfer.Download
		given []byte
		num   int
		text  string // in the error ("" means that the file is good)
		kept  bool   // a part, to resume from
	}{
		{"good", described, content, 0, "", false},
		{"good, nothing known of it", filexfer.Download{}, content, 0, "", false},
		{"good and empty", filexfer.Download{MD5: md5Hex(nil)}, nil, 0, "", false},
		{"altered", described, wrong, protocol.ErrNumMD5, "checksum mismatch: got " + md5Hex(wrong), false},
		{"altered, size unknown", filexfer.Download{MD5: md5Hex(content)}, wrong, protocol.ErrNumMD5, "checksum mismatch", false},
		{"too long", described, append(bytes.Clone(content), "and more"...), protocol.ErrNumWrongSize, "wrong size: got 10001 bytes, want 10000", false},
		{"too short: perhaps cut off", described, content[:9999], 0, "connection ended after 9999 of 10000 bytes", true},
		{"unpacked", with(described, func(d *filexfer.Download) { d.Gzipped = true }), zipped(t, content), 0, "", false},
		{"unpacked and altered", with(described, func(d *filexfer.Download) { d.Gzipped = true }), zipped(t, wrong), protocol.ErrNumMD5, "checksum mismatch", false},
		{"unpacks to far more than there should be", with(described, func(d *filexfer.Download) { d.Gzipped = true }), zipped(t, make([]byte, 10<<20)), protocol.ErrNumWrongSize, "wrong size: got 10001", false},
		{"not packed although it should be", with(described, func(d *filexfer.Download) { d.Gzipped = true }), content, 0, "unpack: gzip: invalid header", true},
		{"packed data cut off", with(described, func(d *filexfer.Download) { d.Gzipped = true }), zipped(t, content)[:5000], 0, "unexpected EOF", true},
		{"signed", app, signed, 0, "", false},
		{"signed and altered", app, bytes.ToUpper(signed), protocol.ErrNumSignature, "signature check failed", false},
		{"signed by another key", with(app, func(d *filexfer.Download) { d.Key = vector(t, "code_sign_new_public") }), signed, protocol.ErrNumSignature, "signature check failed", false},
		{"signature of another file", with(app, func(d *filexfer.Download) { d.Signature = vector(t, "content-ff.bin.sig") }), signed, protocol.ErrNumSignature, "signature check failed", false},
		{"signature that is none", with(app, func(d *filexfer.Download) { d.Signature = "none\n" }), signed, protocol.ErrNumSignature, "signature", false},
		{"no signature", with(app, func(d *filexfer.Download) { d.Signature, d.MD5 = "", md5Hex(signed) }), signed, protocol.ErrNumNoSignature, "has no signature", false},
		{"no key", with(app, func(d *filexfer.Download) { d.Key = "" }), signed, protocol.ErrNumSignature, "key", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, give(tt.given))
			dir := folder(t, nil)
			d := tt.d
			d.Dir, d.Name, d.URLs = dir, "file_1", []string{s.URL + "/download/file_1"}
			err := client(nil).Download(t.Context(), d, nil)
			if tt.text == "" {
				must(t, err)
				b, err := dir.ReadFile("file_1")
				want := tt.given
				if d.Gzipped {
					want = content
				}
				if err != nil || !bytes.Equal(b, want) {
					t.Errorf("the file has %d bytes, %v; want %d", len(b), err, len(want))
				}
				st, err := dir.Stat("file_1")
				executable := err == nil && st.Mode()&0o111 != 0
				if runtime.GOOS == "windows" {
					executable = d.Executable // on Windows the name determines that
				}
				if err != nil || executable != d.Executable {
					t.Errorf("mode %v, %v; want executable %v", st.Mode(), err, d.Executable)
				}
				if got := names(t, dir); len(got) != 1 {
					t.Errorf("the folder holds %q", got)
				}
				if err := d.Check(); err != nil {
					t.Error(err)
				}
				return
			}
			failure(t, err, tt.num)
			if !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), "download file_1 ("+s.URL) {
				t.Errorf("got %q, want %q in it", err, tt.text)
			}
			if tt.num == protocol.ErrNumMD5 && !errors.Is(err, filexfer.ErrChecksum) {
				t.Error("the error is not ErrChecksum")
			}
			if got := names(t, dir); slices.Contains(got, "file_1") || len(got) > 0 != tt.kept {
				t.Errorf("the folder holds %q, want a part to be kept: %v", got, tt.kept)
			}
			failure(t, d.Check(), protocol.ErrNumFileMissing)
		})
	}
}

func TestAnswersThatAreNoFile(t *testing.T) {
	for _, tt := range []struct {
		code     int
		num      int
		requests int // the short retries included
	}{
		{http.StatusNotFound, protocol.ErrNumPermanentHTTP, 1},
		{http.StatusForbidden, protocol.ErrNumPermanentHTTP, 1},
		{http.StatusGone, protocol.ErrNumPermanentHTTP, 1},
		{http.StatusRequestTimeout, 0, 1},
		{http.StatusTooManyRequests, 0, 3},
		{http.StatusInternalServerError, 0, 3},
		{http.StatusServiceUnavailable, 0, 3},
		{http.StatusNoContent, protocol.ErrNumPermanentHTTP, 1},
		{http.StatusFound, 0, 1}, // without an address
	} {
		s := serve(t, status(tt.code))
		err := client(nil).Download(t.Context(), filexfer.Download{Dir: folder(t, nil), Name: "f", URLs: []string{s.URL + "/f"}, NBytes: 9}, nil)
		failure(t, err, tt.num)
		if e, ok := errors.AsType[*filexfer.StatusError](err); !ok || e.Code != tt.code {
			t.Errorf("got %v, want HTTP %d", err, tt.code)
		}
		if n := len(s.requests()); n != tt.requests {
			t.Errorf("HTTP %d: asked %d times, want %d", tt.code, n, tt.requests)
		}
	}
}

func TestURLsAreTriedInTurn(t *testing.T) {
	content := noise(100)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			give(content)(w, r)
		case "/altered":
			give(noise(101)[1:])(w, r)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	})
	for _, tt := range []struct {
		urls string
		num  int
		text string
	}{
		{"/gone /good", 0, ""},
		{"/altered /good", 0, ""},
		{"/busy /gone /altered /good /never", 0, ""},
		{"/gone /busy /gone", 0, "HTTP 503"}, // may yet be there
		{"/busy /altered", 0, "HTTP 503"},
		{"/altered /gone", protocol.ErrNumPermanentHTTP, "HTTP 404"},
	} {
		var urls []string
		for path := range strings.FieldsSeq(tt.urls) {
			urls = append(urls, s.URL+path)
		}
		dir := folder(t, nil)
		err := client(nil).Download(t.Context(), filexfer.Download{Dir: dir, Name: "f", URLs: urls, NBytes: 100, MD5: md5Hex(content)}, nil)
		if tt.text == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.urls, err)
			}
			continue
		}
		failure(t, err, tt.num)
		if !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: got %v, want %s", tt.urls, err, tt.text)
		}
	}
	if slices.Contains(s.requests(), "GET /never") {
		t.Error("a URL was asked although another had given the file")
	}
}

// cutAfter serves content but breaks the first n connections after some bytes.
func cutAfter(n int64, size int, content []byte) http.HandlerFunc {
	var served atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if served.Add(1) > n {
			give(content)(w, r)
			return
		}
		from := 0
		if v := r.Header.Get("Range"); v != "" {
			from, _ = strconv.Atoi(strings.Trim(v, "bytes=-"))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(content)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(content[from : from+size])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestResumeAfterACutConnection(t *testing.T) {
	content := noise(100_000)
	s := serve(t, cutAfter(2, 30_000, content))
	d := filexfer.Download{Dir: folder(t, nil), Name: "f", URLs: []string{s.URL + "/f"}, NBytes: 100_000, MD5: md5Hex(content)}
	var moved int64
	for range 2 {
		err := client(nil).Download(t.Context(), d, func(n int64) { moved += n })
		failure(t, err, 0)
	}
	must(t, client(nil).Download(t.Context(), d, func(n int64) { moved += n }))
	want := []string{"GET /f", "GET /f bytes=30000-", "GET /f bytes=60000-"}
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
	if moved != 100_000 {
		t.Errorf("%d bytes were moved, want 100000", moved)
	}
	if err := client(nil).Download(t.Context(), d, nil); err != nil {
		t.Error(err)
	}
	if n := len(s.requests()); n != 3 {
		t.Errorf("a file that was there and good was asked for again (%d requests)", n)
	}
}

func TestResumeNeverSpoilsAFile(t *testing.T) {
	content := noise(50_000)
	whole := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }
	for _, tt := range []struct {
		name     string
		part     []byte
		h        http.HandlerFunc
		requests []string
	}{
		{"goes on", content[:20_000], give(content), []string{"GET /f bytes=20000-"}},
		{"server knows no ranges", content[:20_000], whole, []string{"GET /f bytes=20000-"}},
		{"complete already", content, give(content), nil},
		{"empty part", nil, give(content), []string{"GET /f"}},
		{"part longer than the file", noise(60_000), give(content), []string{"GET /f"}},
		{"part is an error page", bytes.Repeat([]byte("<html>"), 100), give(content), []string{"GET /f bytes=600-", "GET /f"}},
		{"complete, but another file", make([]byte, 50_000), give(content), []string{"GET /f"}},
		{"range refused", content[:20_000], func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			whole(w, r)
		}, []string{"GET /f bytes=20000-", "GET /f"}},
		{"another range given than asked for", content[:20_000], func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 0-49999/50000")
				w.WriteHeader(http.StatusPartialContent)
			}
			whole(w, r)
		}, []string{"GET /f bytes=20000-", "GET /f"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.h)
			dir := folder(t, map[string][]byte{"f..part": tt.part})
			d := filexfer.Download{Dir: dir, Name: "f", URLs: []string{s.URL + "/f"}, NBytes: 50_000, MD5: md5Hex(content)}
			must(t, client(nil).Download(t.Context(), d, nil))
			if b, err := dir.ReadFile("f"); err != nil || !bytes.Equal(b, content) {
				t.Errorf("the file is not the server's (%v)", err)
			}
			if got := s.requests(); !slices.Equal(got, tt.requests) {
				t.Errorf("asked %q, want %q", got, tt.requests)
			}
		})
	}
}

// A web page where a file was expected is the answer of another server, such as a network's login
// page. It neither ends the download nor costs the part that has arrived.
func TestAPageIsNotTheFile(t *testing.T) {
	content, html := noise(50_000), []byte("\n<!DOCTYPE html><html>Welcome to the hotel</html>")
	long := append(bytes.Clone(html), noise(60_000)...)
	portal := func(page []byte, chunked bool) http.HandlerFunc {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			if chunked {
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = w.Write(page)
		})
		return http.RedirectHandler(s.URL+"/login", http.StatusFound).ServeHTTP
	}
	described := filexfer.Download{NBytes: int64(len(content)), MD5: md5Hex(content)}
	for _, tt := range []struct {
		name string
		d    filexfer.Download
		page []byte
		part []byte
	}{
		{"short", described, html, nil},
		{"long", described, long, nil},
		{"as long as the file", described, long[:50_000], nil},
		{"size unknown", filexfer.Download{MD5: md5Hex(content)}, html, nil},
		{"packed", filexfer.Download{NBytes: described.NBytes, MD5: described.MD5, Gzipped: true}, html, nil},
		{"program", filexfer.Download{NBytes: described.NBytes, Signed: true, Signature: vector(t, "content-1.txt.sig"), Key: vector(t, "code_sign_public")}, long, nil},
		{"short, in the middle", described, html, content[:20_000]},
		{"long, in the middle", described, long, content[:20_000]},
	} {
		for _, chunked := range []bool{false, true} {
			s := serve(t, portal(tt.page, chunked))
			d, parts := tt.d, map[string][]byte{}
			if tt.part != nil {
				parts["f..part"] = tt.part
			}
			d.Dir, d.Name, d.URLs = folder(t, parts), "f", []string{s.URL + "/f"}
			err := client(nil).Download(t.Context(), d, nil)
			failure(t, err, 0)
			if e, _ := errors.AsType[*filexfer.Error](err); !errors.Is(err, httpclient.ErrPage) || e.Host == "" || strings.Contains(s.URL, e.Host) {
				t.Errorf("%s: %v, of %+v", tt.name, err, e)
			}
			if b, err := d.Dir.ReadFile("f..part"); !bytes.Equal(b, tt.part) {
				t.Errorf("%s: %d bytes stay, %v", tt.name, len(b), err)
			}
			if slices.Contains(names(t, d.Dir), "f") {
				t.Errorf("%s: it is taken for the file", tt.name)
			}
		}
	}
	// A project's own page is a file as any other, and resumes where a part of it is here.
	for _, part := range [][]byte{nil, long[:20], long[:20_000]} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(long) }) // without ranges
		d := filexfer.Download{Dir: folder(t, map[string][]byte{"f..part": part}), Name: "f", URLs: []string{s.URL + "/f"}, NBytes: int64(len(long)), MD5: md5Hex(long)}
		must(t, client(nil).Download(t.Context(), d, nil))
	}
}

func TestNamesThatLeadElsewhere(t *testing.T) {
	s := serve(t, give([]byte("x")))
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, "/etc/x", "a..b", "f..part", "C:x", "a%b", "a\nb", "x.", strings.Repeat("n", 256)} {
		dir := folder(t, nil)
		failure(t, client(nil).Download(t.Context(), filexfer.Download{Dir: dir, Name: name, URLs: []string{s.URL}}, nil), protocol.ErrNumPermanentHTTP)
		if got := names(t, dir); len(got) > 0 {
			t.Errorf("%q made %q", name, got)
		}
	}
	if got := s.requests(); len(got) > 0 {
		t.Errorf("the server was asked %q", got)
	}
	failure(t, client(nil).Download(t.Context(), filexfer.Download{Dir: folder(t, nil), Name: "f"}, nil), protocol.ErrNumPermanentHTTP)
	failure(t, client(nil).Download(t.Context(), filexfer.Download{Dir: folder(t, nil), Name: "f", URLs: []string{"://"}}, nil), protocol.ErrNumPermanentHTTP)
}

func TestLongestName(t *testing.T) {
	s := serve(t, give([]byte("x")))
	dir := folder(t, nil)
	name := strings.Repeat("n", 255)
	if err := client(nil).Download(t.Context(), filexfer.Download{Dir: dir, Name: name, URLs: []string{s.URL}}, nil); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 1 || got[0] != name {
		t.Errorf("the folder holds %q", got)
	}
}

func TestLinksOutOfTheFolderAreNotFollowed(t *testing.T) {
	s := serve(t, give([]byte("theirs")))
	for _, link := range []string{"f", "f..part"} {
		dir := folder(t, nil)
		outside := filepath.Join(dir.Name(), "..", "outside")
		must(t, os.WriteFile(outside, []byte("ours"), 0o600))
		if err := os.Symlink(outside, filepath.Join(dir.Name(), link)); err != nil {
			t.Skip(err)
		}
		d := filexfer.Download{Dir: dir, Name: "f", URLs: []string{s.URL}, NBytes: 6, MD5: md5Hex([]byte("theirs"))}
		if err := client(nil).Download(t.Context(), d, nil); err != nil {
			t.Errorf("link %s: %v", link, err)
		}
		if b, err := os.ReadFile(outside); err != nil || string(b) != "ours" {
			t.Errorf("link %s: the file outside now holds %q (%v)", link, b, err)
		}
		if st, err := dir.Lstat("f"); err != nil || !st.Mode().IsRegular() {
			t.Errorf("link %s: f is %v (%v)", link, st, err)
		}
	}
	// A good file elsewhere is not the file in the folder.
	dir := folder(t, nil)
	outside := filepath.Join(dir.Name(), "..", "outside")
	if err := errors.Join(os.WriteFile(outside, []byte("theirs"), 0o600), os.Symlink(outside, filepath.Join(dir.Name(), "f"))); err != nil {
		t.Skip(err)
	}
	if (filexfer.Download{Dir: dir, Name: "f", NBytes: 6}).Check() == nil {
		t.Error("a link out of the folder passed for the file")
	}
}

func TestCancelledDownload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("the beginning"))
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	dir := folder(t, nil)
	err := client(nil).Download(ctx, filexfer.Download{Dir: dir, Name: "f", URLs: []string{s.URL + "/1", s.URL + "/2"}, NBytes: 100}, nil)
	failure(t, err, 0)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if got := s.requests(); len(got) != 1 {
		t.Errorf("asked %q after the end", got)
	}
}

func TestRemove(t *testing.T) {
	dir := folder(t, map[string][]byte{"f": nil, "f..part": nil, "f..compiled": nil, "g": nil})
	for range 2 {
		if err := filexfer.Remove(dir, "f"); err != nil {
			t.Error(err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"g"}) {
		t.Errorf("the folder holds %q, want g", got)
	}
	if filexfer.Remove(dir, "../x") == nil {
		t.Error("a name that leads elsewhere was no error")
	}
}

// stalling gives the first bytes of an answer, and then nothing.
type stalling struct{ first string }

func (s stalling) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.first == "" {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	body := io.MultiReader(strings.NewReader(s.first), until{r.Context()})
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header),
		Body: io.NopCloser(body), ContentLength: -1, Request: r,
	}, nil
}

type until struct{ ctx context.Context }

func (u until) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, u.ctx.Err()
}

func TestStalledTransfersAreCutOff(t *testing.T) {
	dir := folder(t, map[string][]byte{"out": []byte("result")})
	for _, first := range []string{"", "some bytes"} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			err := client(stalling{first}).Download(t.Context(), filexfer.Download{Dir: dir, Name: "f", URLs: []string{"http://p.example/f"}, NBytes: 100}, nil)
			failure(t, err, 0)
			if got := time.Since(begin); got != filexfer.Stall || !strings.Contains(err.Error(), "hardly any data for 5 minutes") {
				t.Errorf("after %q: %v after %v, want an end after %v", first, err, got, filexfer.Stall)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			err := client(stalling{first}).Upload(t.Context(), filexfer.Upload{Dir: dir, Name: "out", URLs: []string{"http://p.example/file_upload_handler"}}, nil)
			failure(t, err, 0)
			if got := time.Since(begin); got != filexfer.Stall || !strings.Contains(err.Error(), "hardly any data for 5 minutes") {
				t.Errorf("upload, after %q: %v after %v, want an end after %v", first, err, got, filexfer.Stall)
			}
		})
	}
}

// dripping gives so many bytes a minute.
type dripping struct {
	content []byte
	bytes   int
}

func (d dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	left := bytes.NewReader(d.content)
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header),
		Body: io.NopCloser(minutely{r.Context(), left, d.bytes}), ContentLength: -1, Request: r,
	}, nil
}

type minutely struct {
	ctx context.Context
	r   io.Reader
	n   int
}

func (m minutely) Read(p []byte) (int, error) {
	select {
	case <-m.ctx.Done():
		return 0, m.ctx.Err()
	case <-time.After(time.Minute):
		return m.r.Read(p[:min(len(p), m.n)])
	}
}

func TestSlowIsNotStalled(t *testing.T) {
	dir := folder(t, nil)
	synctest.Test(t, func(t *testing.T) {
		d := filexfer.Download{Dir: dir, Name: "f", URLs: []string{"http://p.example/f"}, NBytes: 15_000}
		if err := client(dripping{noise(15_000), 500}).Download(t.Context(), d, nil); err != nil {
			t.Error(err)
		}
	})
}

// What drips would be done in a year, and hold others up for as long.
func TestDrippingIsStalled(t *testing.T) {
	dir := folder(t, nil)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		d := filexfer.Download{Dir: dir, Name: "f", URLs: []string{"http://p.example/f"}, NBytes: 1e6}
		err := client(dripping{noise(1e6), 2}).Download(t.Context(), d, nil)
		failure(t, err, 0)
		if got := time.Since(begin); got != filexfer.Stall {
			t.Errorf("%v after %v", err, got)
		}
	})
}
