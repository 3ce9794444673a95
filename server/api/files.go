package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"unicode/utf8"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// physical returns the project's name for a file that a token's bearer has uploaded. Each token has
// its own names, so that a bearer cannot use another's name, or one that the project would give a
// file itself.
func physical(owner int64, name string) string { return fmt.Sprintf("token%d_%s", owner, name) }

// ofAToken matches the start of the names of files that belong to a token. Only the token's bearer
// may name them.
var ofAToken = regexp.MustCompile(`^token[0-9]+_`)

// uploadable returns why a file cannot be called so, or nil.
func uploadable(name string) error {
	if err := protocol.ValidFileName(physical(1<<40, name)); err != nil || name == "" || !utf8.ValidString(name) || bxml.Printable(name, len(name)) != name {
		return faultf(http.StatusUnprocessableEntity, "use letters, digits, _ . and -", "%q is no name for a file", name)
	}
	return nil
}

// stage stores a file for the batches of a token. The content of a name never changes, because
// computers may have it already.
func (a *API) stage(ctx context.Context, owner int64, name string, r io.Reader) error {
	if err := uploadable(name); err != nil {
		return err
	}
	_, err := a.Download.Put(ctx, physical(owner, name), r)
	if errors.Is(err, blob.ErrDifferent) {
		err = faultf(http.StatusConflict, "choose another name: computers may have the file", "there is a file %q with other content", name)
	}
	return err
}

// discardFile deletes a file that was uploaded, unless a workunit needs it.
func (a *API) discardFile(c *call) (any, error) {
	name := c.PathValue("name")
	if err := uploadable(name); err != nil {
		return nil, err
	}
	own := physical(c.token.ID, name)
	size, err := a.Download.Size(c.Context(), own)
	missing := errors.Is(err, fs.ErrNotExist) // it is not counted then, even if the operator has deleted it
	if err != nil && !missing {
		return nil, err
	}
	err = a.Store.Update(c.Context(), func(tx *store.Tx) error {
		if err := tx.LockFiles(); err != nil {
			return err
		}
		needed, err := tx.FileNeeded(own)
		if err != nil {
			return err
		}
		if needed {
			return faultf(http.StatusConflict, "wait until they are finished, which deletes the file, or cancel them", "unfinished jobs need the file %q", name)
		}
		if err := a.Download.Remove(c.Context(), own); err != nil {
			return err
		}
		return tx.DropFiles([]string{own})
	})
	if err == nil && missing {
		err = faultf(http.StatusNotFound, "PUT files/NAME uploads one", "there is no file %q of this token", name)
	}
	return wire.File{Name: name, Size: size}, err
}

// upload stores the body of a request as a file that batches of the token may name.
func (a *API) upload(c *call) (any, error) {
	n, err := a.receive(c.Request, c.token, c.PathValue("name"), c.Body, max(c.ContentLength, 1))
	return wire.File{Name: c.PathValue("name"), Size: n}, err
}

// receive spools a file of a request, as r yields it, and stores it for the batches of a token. The file
// has at least least bytes.
func (a *API) receive(req *http.Request, token store.Token, name string, r io.Reader, least int64) (n int64, err error) {
	if err := uploadable(name); err != nil {
		return 0, err
	}
	most := req.ContentLength
	if most < 0 { // unknown
		most = maxUpload
	}
	err = a.Store.View(req.Context(), func(tx *store.View) error { // before the file is read
		counted, err := tx.TokenFile(token.ID, physical(token.ID, name))
		if err != nil || least <= counted {
			return err
		}
		return hasRoom(tx, token, least-counted)
	})
	if err != nil {
		return 0, err
	}
	dir, remove, err := a.Spool.folder(req.Context(), limit.ClientOf(req), most)
	if err != nil {
		return 0, err
	}
	defer remove()
	f, err := os.OpenFile(filepath.Join(dir, "file"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	if n, err = io.Copy(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return n, err
	}
	own := physical(token.ID, name)
	if err := a.reserve(req.Context(), token.ID, own, n); err != nil {
		return n, err
	}
	err = a.stage(req.Context(), token.ID, name, f)
	return n, errors.Join(err, a.settle(context.WithoutCancel(req.Context()), token.ID, own))
}

// hasFile reports whether there is a file that a token's bearer may name in a batch, and returns
// the project's name for it.
func (a *API) hasFile(ctx context.Context, owner int64, name string) (own string, there bool, err error) {
	for _, own := range []string{physical(owner, name), name} {
		if own == name && ofAToken.MatchString(name) {
			break
		}
		if protocol.ValidFileName(own) != nil {
			continue
		}
		_, err := a.Download.Size(ctx, own)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return own, err == nil, err
		}
	}
	return "", false, nil
}

// staged is a file that was uploaded, or that the operator has staged. The operator's stay, since others may need them:
// other tokens, or computers that were ordered to fetch them.
func (a *API) staged(ctx context.Context, in wire.Input, owner int64) (g workgen.Given, err error) {
	name, there, err := a.hasFile(ctx, owner, in.Staged)
	if err == nil && !there {
		err = &inputError{fmt.Sprintf("names the file %q, which the project does not have", in.Staged), "upload it first; files are deleted after the last workunit that needs them"}
	}
	own := name == physical(owner, in.Staged)
	return workgen.Given{Kind: workgen.Staged, Path: name, Base: in.Staged, Logical: in.Name, Counted: own, Keep: !own}, err
}
