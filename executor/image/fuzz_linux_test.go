package image_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/executor/image"
	"github.com/starling-grid/starling/protocol"
)

// Whatever two layers contain, they are unpacked or refused, and only in the image's folder.
func FuzzUnpack(f *testing.F) {
	f.Add(entry(file("a/b", "1", 0o755), link("l", "/a"), hard("h", "a/b")), entry(file("l/.wh.b", "", 0), file("l/c", "2", 0o644)))
	f.Add(entry(folder("d"), link("d/up", "../..")), entry(file("d/up/x", "1", 0o644), file("d/.wh..wh..opq", "", 0)))
	f.Add(sparse(100), []byte("no archive"))
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		outside, data := t.TempDir(), t.TempDir()
		root, err := os.OpenRoot(data)
		must(t, err)
		defer root.Close()
		s, err := image.Open(root, data, "images")
		must(t, err)
		defer s.Close()
		layers := t.TempDir()
		var m protocol.Image
		for _, archive := range [][]byte{lower, upper} {
			sum := sha256.Sum256(archive)
			l := protocol.ImageLayer{DiffID: hex.EncodeToString(sum[:]), NBytes: int64(len(archive))}
			must(t, os.WriteFile(filepath.Join(layers, l.FileName()), gz(archive), 0o600))
			m.Layers = append(m.Layers, l)
		}
		_, done, err := s.Unpack(t.Context(), m, func() error { return nil }, func(name string) (*os.File, error) { return os.Open(filepath.Join(layers, name)) })
		switch {
		case err == nil:
			done()
		case !errors.Is(err, image.ErrBroken):
			t.Errorf("not the image's fault: %v", err)
		}
		if left := list(t, outside); left != "" {
			t.Errorf("outside: %s", left)
		}
		if all, _ := os.ReadDir(data); len(all) != 1 {
			t.Errorf("next to the images: %v", all)
		}
	})
}
