package testimage

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/protocol"
)

// An Entry is an entry of a layer.
type Entry struct {
	tar.Header
	Content string
}

// File returns an entry for a file.
func File(name, content string, mode int64) Entry {
	return Entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}, content}
}

// Of returns an entry without content: a folder, a link or a device.
func Of(kind byte, name, link string) Entry {
	return Entry{tar.Header{Typeflag: kind, Name: name, Linkname: link, Mode: 0o755}, ""}
}

// Tar returns the archive of a layer. An entry may state a wrong size if it is the last one.
func Tar(entries ...Entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			panic(err)
		}
		if _, err := w.Write([]byte(e.Content)); err != nil {
			panic(err)
		}
	}
	_ = w.Close() // fails only for a wrong size
	return b.Bytes()
}

// Folder returns the archive of all files in a folder.
func Folder(dir string) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.AddFS(os.DirFS(dir))
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

// Layer writes the layer file of an archive to a folder and returns its description.
func Layer(dir string, archive []byte) (protocol.ImageLayer, error) {
	sum := sha256.Sum256(archive)
	l := protocol.ImageLayer{DiffID: hex.EncodeToString(sum[:]), NBytes: int64(len(archive))}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.NoCompression) // under the race detector a level would take seconds
	if err == nil {
		_, err = w.Write(archive)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, l.FileName()), b.Bytes(), fs.FileMode(0o600))
	}
	return l, err
}
