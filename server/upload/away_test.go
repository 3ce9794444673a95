package upload_test

import (
	"context"
	"errors"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/upload"
)

// away are files that cannot be looked at just now.
type away struct{ upload.Files }

func (away) Size(context.Context, string) (int64, error) { return 0, errors.New("connection refused") }

// A file is never replaced, even while the server cannot find out whether it exists.
func TestNothingIsReplacedUnseen(t *testing.T) {
	w := newWorld(t)
	if r := w.upload(w.request("out", "first"), "first"); r.Status != protocol.UploadOK {
		t.Fatalf("upload: %+v", r)
	}
	files := w.h.Files
	w.h.Files = away{files}
	if r := w.upload(w.request("out", "other"), "other"); r.Status != protocol.UploadTransient {
		t.Errorf("while the files are away: %+v, want that the client comes again", r)
	}
	w.h.Files = files
	if got := w.content("out"); got != "first" {
		t.Errorf("got %q, want the first file", got)
	}
}

// leaves is a client that has gone when its file is to be put into place.
type leaves struct {
	upload.Files
	gone func()
}

func (l leaves) CommitPart(ctx context.Context, name string) error {
	l.gone()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.Files.CommitPart(ctx, name)
}

// A file that has come whole is not lost with the connection.
func TestACommitOutlivesTheClient(t *testing.T) {
	w := newWorld(t)
	ctx, gone := context.WithCancel(t.Context())
	w.ctx = ctx
	w.h.Files = leaves{w.h.Files, gone}
	if r := w.upload(w.request("out", "data"), "data"); r.Status != protocol.UploadOK {
		t.Errorf("upload: %+v", r)
	}
	if got := w.content("out"); got != "data" {
		t.Errorf("got %q", got)
	}
}
