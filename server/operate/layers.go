package operate

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/operate/image"
	"github.com/starling-grid/starling/server/project"
)

// storeLayers stores and signs the layers of an image that are not stored yet, and returns the
// descriptions of their files. The sizes of the layers are then known.
func storeLayers(ctx context.Context, p *project.Project, m *image.Image, key signer) ([]protocol.FileInfo, error) {
	var files []protocol.FileInfo
	stored := make(map[string]int64)
	for i := range m.Description.Layers {
		l := &m.Description.Layers[i]
		if n, ok := stored[l.DiffID]; ok { // images may repeat a layer
			l.NBytes = n
			continue
		}
		info, err := storeLayer(ctx, p, m, i)
		if err != nil {
			return nil, err
		}
		stored[l.DiffID] = l.NBytes
		f, err := signStored(ctx, p, "", l.FileName(), info, key)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, m.Description.Check()
}

// storeLayer verifies layer i, and compresses and stores it unless that was done before.
func storeLayer(ctx context.Context, p *project.Project, m *image.Image, i int) (blob.Info, error) {
	content, err := m.Layer(i)
	if err != nil {
		return blob.Info{}, err
	}
	defer content.Close()
	name := m.Description.Layers[i].FileName()
	switch _, err := p.Download.Size(ctx, name); {
	case err == nil:
		if _, err := io.Copy(io.Discard, content); err != nil {
			return blob.Info{}, err
		}
		return p.Download.Sum(ctx, name)
	case !errors.Is(err, fs.ErrNotExist):
		return blob.Info{}, err
	}
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		z := gzip.NewWriter(w)
		_, err := io.Copy(z, content)
		if err == nil {
			err = z.Close()
		}
		_ = w.CloseWithError(err)
	}()
	return p.Download.Put(ctx, name, r)
}

// writeDescription writes an image's description to a file in dir and returns its path.
func writeDescription(m protocol.Image, dir string) (string, error) {
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return "", err
	}
	if _, err := protocol.ParseImage(text); err != nil { // as agents will
		return "", err
	}
	path := filepath.Join(dir, protocol.ImageFile)
	return path, atomicfile.Write(path, append(text, '\n'), os.FileMode(0o644))
}
