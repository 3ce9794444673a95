package api

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

// failuresFile is the name of the list of failed workunits in an archive.
const failuresFile = "failed.json"

// archive serves the output files of a batch as one ZIP file, NAME/FILE for each workunit, together
// with the reasons of the workunits that failed. Files are not compressed. The archive has the
// workunits that were finished when their turn came. If a file cannot be read, the connection is
// closed, so that the receiver does not take a part for the whole.
func (a *API) archive(c *call, b store.APIBatch) (any, error) {
	next := func(after int64) (list []store.Workunit, err error) {
		list, err = store.Read(c.Context(), a.Store, func(tx *store.View) ([]store.Workunit, error) { return tx.WorkunitsIn(b.Number(), after, listed) })
		return list, err
	}
	list, err := next(0)
	if err == nil {
		err = a.whole(c, b.ID)
	}
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Content-Type", "application/zip")
	c.w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="batch-%d.zip"`, b.ID))
	z := zip.NewWriter(c.w)
	failed := []wire.Outcome{}
	for err == nil && len(list) > 0 {
		for _, wu := range list {
			name := wu.Name[len(unique(b, "")):]
			if wu.ErrorMask != 0 {
				failed = append(failed, wire.Outcome{Name: name, State: string(wu.State()), Errors: wu.ErrorMask.Reasons()})
			}
			if wu.AssimilateState == store.AssimilateDone && err == nil {
				err = addFolder(z, name, a.Outcome(wu))
			}
		}
		if err == nil {
			list, err = next(list[len(list)-1].ID)
		}
	}
	if err == nil && len(failed) > 0 {
		var w io.Writer
		if w, err = z.CreateHeader(&zip.FileHeader{Name: failuresFile, Modified: time.Now()}); err == nil {
			err = json.NewEncoder(w).Encode(failed)
		}
	}
	if err == nil {
		err = a.whole(c, b.ID)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		a.Log.Warn("an archive of a batch ends early", "batch", b.ID, "err", err)
		panic(http.ErrAbortHandler)
	}
	return nil, nil
}

// whole refuses an archive of a batch whose outputs are not all to be had, which may change while
// it is sent.
func (a *API) whole(c *call, id int64) error {
	b, err := a.own(c.Context(), c.token, strconv.FormatInt(id, 10))
	if err != nil {
		return err
	}
	s, err := a.status(c.Context(), b)
	if err != nil {
		return err
	}
	return gone(&s)
}

// gone returns the refusal of wire.Batch.Missing, or nil.
func gone(b *wire.Batch) error {
	if f := b.Missing(); f != nil {
		return faultf(http.StatusGone, f.Cure, "%s", f.Text)
	}
	return nil
}

// addFolder adds the regular files of a folder, if it is there.
func addFolder(z *zip.Writer, prefix, dir string) error {
	root, err := os.OpenRoot(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return addFile(z, path.Join(prefix, name), root, name)
	})
}

func addFile(z *zip.Writer, as string, root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	w, err := z.CreateHeader(&zip.FileHeader{Name: strings.TrimPrefix(as, "/"), Modified: st.ModTime()})
	if err == nil {
		_, err = io.Copy(w, f)
	}
	return err
}
