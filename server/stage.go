package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/workgen"
)

// StageFile puts a file into download/ under a name that is then its for good, and
// returns that name; "" makes one from the file's name and content. Workunits
// that wait for it go on.
func (p *Project) StageFile(path, name string) (string, error) {
	own, info, err := workgen.PhysicalName(path)
	if err != nil {
		return "", err
	}
	if name == "" {
		name = own
	}
	if err := protocol.ValidFileName(name); err != nil {
		return "", err
	}
	switch old, err := p.Download.Sum(name); {
	case err == nil && old == info:
		return name, nil
	case err == nil:
		return "", fmt.Errorf("file %s is there with another content: computers may have it, so choose another name", name)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = p.Download.Put(name, f)
	return name, err
}
