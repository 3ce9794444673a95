package upload_test

import (
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/upload"
)

// Whatever comes is answered in words, and nothing is stored without a certificate.
func FuzzHandler(f *testing.F) {
	captures, err := filepath.Glob("../../protocol/testdata/captures/*/*/*upload*.request.http")
	if err != nil || len(captures) == 0 {
		f.Fatalf("%d captures, %v", len(captures), err)
	}
	for _, name := range captures {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, body, _ := strings.Cut(string(b), "\r\n\r\n")
		f.Add(body)
	}
	f.Add(string(protocol.UploadRequest{Name: "a", XMLSignature: "00", MaxNBytes: 9, NBytes: 1}.Encode()) + "x")
	dir := f.TempDir()
	files, err := blob.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	defer files.Close()
	key, err := protocol.GenerateKey()
	if err != nil {
		f.Fatal(err)
	}
	h := &upload.Handler{Files: files, Certifier: upload.NewCertifier(key), Log: slog.New(slog.DiscardHandler)}
	f.Fuzz(func(t *testing.T, body string) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("POST", "/", strings.NewReader(body)))
		if _, err := protocol.ParseUploadReply(rec.Body.Bytes()); err != nil || rec.Code != 200 {
			t.Errorf("HTTP %d, %v: %s", rec.Code, err, rec.Body)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s was stored", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
