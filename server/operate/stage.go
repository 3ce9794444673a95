package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// StageFile puts a file into download/ under a name that it then keeps forever, and returns that
// name. If name is "", it is made from the file's name and content. Workunits that wait for the
// file continue.
func StageFile(ctx context.Context, p *project.Project, path, name string) (string, error) {
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
	switch old, err := p.Download.Sum(ctx, name); {
	case err == nil && old == info:
		return name, nil
	case err == nil:
		return "", fmt.Errorf("file %s already exists with different content. Computers may have it, so choose another name", name)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = p.Download.Put(ctx, name, f)
	return name, err
}

// OrderFile orders a host to do something with a file that belongs to no result. A file to put must
// be in download/. A file to get is uploaded to upload/ if it has at most maxNBytes. The order is
// part of each reply to the host until it is done.
func OrderFile(ctx context.Context, p *project.Project, hostID int64, action store.FileAction, name string, maxNBytes int64, now time.Time) error {
	if err := protocol.ValidFileName(name); err != nil {
		return err
	}
	f := protocol.FileInfo{Name: name}
	switch action {
	case store.FilePut:
		sum, err := p.Download.Sum(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("file %s is not in download/: copy it there with starling-server file stage, which prints its name", name)
		}
		if err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
		f.NBytes, f.MD5, f.Sticky = sum.NBytes, sum.MD5, true
	case store.FileGet:
		switch there, err := p.Uploaded(ctx, name); {
		case err != nil:
			return fmt.Errorf("file %s: %w", name, err)
		case there:
			return fmt.Errorf("file %s was already uploaded", name)
		}
		f.MaxNBytes, f.XMLSignature, f.Sticky = maxNBytes, p.Certifier().Certify(name, maxNBytes), true
	case store.FileDelete:
	default:
		return fmt.Errorf("file action %q, want put, get or delete", action)
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if _, err := tx.Host(hostID); err != nil {
			return fmt.Errorf("host %d: %w", hostID, err)
		}
		_, err := tx.AddFileOrder(store.FileOrder{CreateTime: now, HostID: hostID, Action: action, Name: name, XML: f.XML()})
		return err
	})
}
