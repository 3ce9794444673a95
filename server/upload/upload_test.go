package upload_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"io"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/upload"
)

const vectors = "../../protocol/testdata/vectors/"

type world struct {
	ctx   context.Context // of requests
	t     *testing.T
	h     *upload.Handler
	files *blob.Dir
	dir   string // of files
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	files, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return &world{t.Context(), t, &upload.Handler{Files: files, Certifier: upload.NewCertifier(readKey(t, "upload_private")), Log: slog.New(slog.DiscardHandler)}, files, dir}
}

func (w *world) post(body io.Reader) protocol.UploadReply {
	w.t.Helper()
	req := httptest.NewRequestWithContext(w.ctx, "POST", "/", body)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, req)
	if rec.Code != 200 {
		w.t.Fatalf("HTTP status %d", rec.Code)
	}
	reply, err := protocol.ParseUploadReply(rec.Body.Bytes())
	if err != nil {
		w.t.Fatal(err)
	}
	return reply
}

// request certifies name and builds the head of an upload of data.
func (w *world) request(name string, data string) protocol.UploadRequest {
	w.t.Helper()
	sum := md5.Sum([]byte(data))
	return protocol.UploadRequest{Name: name, XMLSignature: w.h.Certifier.Certify(name, 100), MaxNBytes: 100, NBytes: int64(len(data)), MD5: hex.EncodeToString(sum[:])}
}

func readKey(t *testing.T, name string) *protocol.PrivateKey {
	t.Helper()
	text, err := os.ReadFile(vectors + name)
	if err != nil {
		t.Fatal(err)
	}
	key, err := protocol.ParsePrivateKey(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign certifies a name as BOINC's servers do.
func sign(t *testing.T, key *protocol.PrivateKey, name string) string {
	t.Helper()
	sig, err := key.SignText(protocol.CertificateText(name, 100))
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func (w *world) upload(r protocol.UploadRequest, data string) protocol.UploadReply {
	w.t.Helper()
	return w.post(bytes.NewReader(append(r.Encode(), data...)))
}

func (w *world) size(name string) int64 {
	w.t.Helper()
	reply := w.post(bytes.NewReader(protocol.UploadRequest{SizeQuery: true, Name: name}.Encode()))
	if reply.Status != 0 || !reply.HasSize {
		w.t.Fatalf("size query: %+v", reply)
	}
	return reply.FileSize
}

func (w *world) content(name string) string {
	w.t.Helper()
	f, err := w.files.Open(w.t.Context(), name)
	if err != nil {
		return "(" + "none" + ")"
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func TestUpload(t *testing.T) {
	const data = "0123456789"
	project, other := readKey(t, "upload_private"), readKey(t, "code_sign_private")
	for _, tt := range []struct {
		name   string
		change func(r *protocol.UploadRequest)
		data   string
		status int
		want   string // content afterwards
		size   int64  // in the next answer to a client
	}{
		{"whole", nil, data, 0, data, 10},
		{"without a checksum", func(r *protocol.UploadRequest) { r.MD5 = "" }, data, 0, data, 10},
		{"empty", func(r *protocol.UploadRequest) { r.NBytes, r.MD5 = 0, "" }, "", 0, "", 0},
		{"cut off", nil, data[:4], 1, "(none)", 3},
		{"more than announced", nil, data + "more", 0, data, 10},
		{"damaged", nil, "0123456780", 1, "(none)", 0},
		{"no certificate", func(r *protocol.UploadRequest) { r.XMLSignature = "" }, data, -1, "(none)", 0},
		{"another limit than certified", func(r *protocol.UploadRequest) { r.MaxNBytes++ }, data, -1, "(none)", 0},
		{"a certificate that is none", func(r *protocol.UploadRequest) { r.XMLSignature = "zz" }, data, -1, "(none)", 0},
		{"a forged certificate", func(r *protocol.UploadRequest) { r.XMLSignature = upload.NewCertifier(other).Certify(r.Name, 100) }, data, -1, "(none)", 0},
		{"a certificate for another name", func(r *protocol.UploadRequest) { r.Name = "out_1_more" }, data, -1, "(none)", 0},
		{"too big", func(r *protocol.UploadRequest) { r.NBytes = 101 }, data, -1, "(none)", 0},
		{"a gap before the data", func(r *protocol.UploadRequest) { r.Offset = 5 }, data[5:], 1, "(none)", 0},
		{"as BOINC certifies", func(r *protocol.UploadRequest) { r.XMLSignature = sign(t, project, r.Name) }, data, 0, data, 10},
		{"forged as BOINC certifies", func(r *protocol.UploadRequest) { r.XMLSignature = sign(t, other, r.Name) }, data, -1, "(none)", 0},
		{"on several lines", func(r *protocol.UploadRequest) {
			r.XMLSignature = "\n" + r.XMLSignature[:32] + "\r\n" + r.XMLSignature[32:]
		}, data, 0, data, 10},
		{"half a certificate", func(r *protocol.UploadRequest) { r.XMLSignature = r.XMLSignature[:32] }, data, -1, "(none)", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.request("out_1", data)
			if tt.change != nil {
				tt.change(&r)
			}
			if got := w.upload(r, tt.data); got.Status != tt.status {
				t.Errorf("got %+v, want status %d", got, tt.status)
			}
			if got := w.content("out_1"); got != tt.want {
				t.Errorf("content %q, want %q", got, tt.want)
			}
			if got := w.size("out_1"); got != tt.size {
				t.Errorf("size %d, want %d", got, tt.size)
			}
		})
	}
}

func TestNamesStayInside(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"../x", "/etc/x", "a/b", ".."} {
		r := w.request(name, "x")
		if got := w.upload(r, "x"); got.Status != -1 {
			t.Errorf("%s: got %+v, want status -1", name, got)
		}
	}
}

// full cannot put a file into its place: the disk is full.
type full struct{ upload.Files }

func (full) CommitPart(context.Context, string) error {
	return &fs.PathError{Op: "mkdir", Err: syscall.ENOSPC}
}

// A client continues with the size that the server gives, also after all data have arrived but could not be stored. It
// would not send a file of which the server has everything.
func TestResume(t *testing.T) {
	const data = "0123456789"
	for _, piece := range []int{4, 10} {
		w := newWorld(t)
		r := w.request("out_1", data)
		files := w.h.Files
		w.h.Files = full{files}
		if got := w.upload(r, data[:piece]); got.Status != 1 {
			t.Fatalf("first piece: %+v", got)
		}
		w.h.Files = files
		if r.Offset = w.size("out_1"); r.Offset == 0 || r.Offset == r.NBytes {
			t.Fatalf("size %d after %d bytes", r.Offset, piece)
		}
		if got := w.upload(r, data[r.Offset:]); got.Status != 0 {
			t.Fatalf("rest: %+v", got)
		}
		if got := w.content("out_1"); got != data {
			t.Errorf("content %q", got)
		}
	}
}

// A client that did not get the answer sends the file again. It may have been compared by then, so
// nothing changes.
func TestTheFirstFileStays(t *testing.T) {
	w := newWorld(t)
	w.upload(w.request("out_1", "first"), "first")
	if got := w.upload(w.request("out_1", "other"), "other"); got.Status != 0 {
		t.Errorf("got %+v, want success", got)
	}
	if got := w.content("out_1"); got != "first" {
		t.Errorf("content %q", got)
	}
}

func TestOneConnectionAFile(t *testing.T) {
	w := newWorld(t)
	r := w.request("out_1", "0123456789")
	pr, pw := io.Pipe()
	done := make(chan protocol.UploadReply)
	go func() { done <- w.post(pr) }()
	if _, err := pw.Write(append(r.Encode(), "0123"...)); err != nil {
		t.Fatal(err)
	}
	// The first four bytes were taken, so the first request holds the file.
	if _, err := pw.Write([]byte("4")); err != nil {
		t.Fatal(err)
	}
	if got := w.upload(r, "0123456789"); got.Status != 1 {
		t.Errorf("second connection: %+v, want status 1", got)
	}
	if _, err := pw.Write([]byte("56789")); err != nil {
		t.Fatal(err)
	}
	_ = pw.Close()
	if got := <-done; got.Status != 0 {
		t.Errorf("first connection: %+v", got)
	}
	if got := w.content("out_1"); got != "0123456789" {
		t.Errorf("content %q", got)
	}
}

func TestGarbage(t *testing.T) {
	w := newWorld(t)
	for _, body := range []string{"", "x", "<data_server_request>", "<html>" + strings.Repeat("x\n", 20000)} {
		if got := w.post(strings.NewReader(body)); got.Status != -1 {
			t.Errorf("%.20q: got %+v", body, got)
		}
	}
}

// The requests of the real clients in the captures, with the key of that project.
func TestRealUploads(t *testing.T) {
	for _, tt := range []struct {
		file   string
		status int
	}{
		{"debian-7.20.5/clean/013-upload.request.http", 0},
		{"debian-7.20.5/clean/014-upload.request.http", 0},
		{"debian-7.20.5/clean/010-upload-size-query.request.http", 0},
		{"upstream-8.2.15/clean/011-upload.request.http", 0},
	} {
		b, err := os.ReadFile("../../protocol/testdata/captures/" + tt.file)
		if err != nil {
			t.Fatal(err)
		}
		_, body, ok := bytes.Cut(b, []byte("\r\n\r\n"))
		if !ok {
			_, body, _ = bytes.Cut(b, []byte("\n\n"))
		}
		if got := newWorld(t).post(bytes.NewReader(body)); got.Status != tt.status {
			t.Errorf("%s: got %+v, want status %d", tt.file, got, tt.status)
		}
	}
}

// Two processes that serve one project, or a server before and after it has read its settings again, are two
// handlers of the same files.
func TestTwoHandlersDoNotMixAFile(t *testing.T) {
	w := newWorld(t)
	files, err := blob.Open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	other := &world{w.ctx, t, &upload.Handler{Files: files, Certifier: w.h.Certifier, Log: w.h.Log}, files, w.dir}
	r := w.request("out_1", "0123456789")
	begin := func(w *world, data string) (*io.PipeWriter, chan protocol.UploadReply) {
		pr, pw := io.Pipe()
		done := make(chan protocol.UploadReply, 1)
		go func() {
			done <- w.post(pr)
			_ = pr.Close()
		}()
		if _, err := pw.Write(append(r.Encode(), data[:len(data)-1]...)); err != nil {
			t.Fatal(err)
		}
		_, _ = pw.Write([]byte(data[len(data)-1:])) // the others were taken
		return pw, done
	}
	first, firstDone := begin(w, "01234")
	second, secondDone := begin(other, "01") // the client has given the first connection up
	_, _ = first.Write([]byte("56789"))
	_ = first.Close()
	got := <-firstDone
	_ = second.CloseWithError(io.ErrUnexpectedEOF)
	if again := <-secondDone; again.Status != protocol.UploadTransient {
		t.Errorf("the second connection is answered %+v", again)
	}
	if content := w.content("out_1"); got.Status != protocol.UploadOK || content != "0123456789" {
		t.Errorf("the first is answered %+v, and the file has %q", got, content)
	}
}
