package server_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// during are files of which the first is stored while something else happens.
type during struct {
	blob.Tree
	once *sync.Once
	what func()
}

func (d during) Put(ctx context.Context, name string, r io.Reader) (blob.Info, error) {
	info, err := d.Tree.Put(ctx, name, r)
	d.once.Do(d.what)
	return info, err
}

// A version that is published while the key is rotated has a signature that computers accept, or is not published.
func TestAVersionIsPublishedDuringARotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	other, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	w.must(err)
	defer other.Close()
	var rotated error
	w.p.Download = during{w.p.Download, new(sync.Once), func() { rotated = operate.RotateKey(t.Context(), other) }}
	added := operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "upper", Number: "7.00", Platform: "x86_64-pc-linux-gnu", Files: []workgen.Given{{Path: w.file("data", "x")}}, Main: w.file("main", "#!/bin/sh\n"),
	}, w.now())
	t.Logf("rotated: %v; added: %v", rotated, added)
	w.must(w.p.ReadKeys())
	versions, err := store.Read(t.Context(), w.p.Store, (*store.View).AllAppVersions)
	w.must(err)
	for _, v := range versions {
		e, err := protocol.ParseElements([]byte(v.XMLDoc))
		w.must(err)
		for _, f := range e.Files {
			content, err := w.p.Download.Open(t.Context(), f.Name)
			w.must(err)
			if err := w.p.CodeSign().Verify(content, strings.TrimSpace(f.Signature)); err != nil {
				t.Errorf("version %d, file %s: %v", v.VersionNum, f.Name, err)
			}
			_ = content.Close()
		}
	}
}
