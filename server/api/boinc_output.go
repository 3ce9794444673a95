package api

import (
	"archive/zip"
	"context"
	"crypto/md5" // BOINC's checksum of requests
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/starling-grid/starling/server/store"
)

// A boincFetch is a request for output files.
type boincFetch struct {
	*API
	ctx context.Context
	q   url.Values
	tx  *store.View
}

// An output is a file that is sent, under a name.
type output struct{ name, path string }

// boincOutput answers requests for output files: with a file if there is to be one, else with a
// ZIP archive of that name. Outputs of canonical results can be had, from results/.
//
// Source: BOINC html/user/get_output.php and get_output2.php.
func (a *API) boincOutput(find func(f *boincFetch) (list []output, archive string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := &boincFetch{API: a, ctx: r.Context(), q: r.URL.Query()}
		var list []output
		var archive string
		err := a.Store.View(r.Context(), func(tx *store.View) (err error) {
			f.tx = tx
			list, archive, err = find(f)
			return err
		})
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case err != nil:
			fault := a.faultOf(err)
			http.Error(w, "ERROR: "+fault.Error(), fault.code)
		case archive == "":
			a.sendFile(w, r, list[0])
		default:
			a.sendArchive(w, list, archive)
		}
	}
}

var noOutput = faultf(http.StatusNotFound, "outputs can be had of jobs that are done, until their batch is retired", "there is no such output file")

func (a *API) sendFile(w http.ResponseWriter, r *http.Request, o output) {
	file, err := os.Open(o.path)
	if err == nil {
		defer file.Close()
		var st fs.FileInfo
		if st, err = file.Stat(); err == nil {
			attach(w, o.name, "application/octet-stream")
			http.ServeContent(w, r, "", st.ModTime(), file)
			return
		}
	}
	http.Error(w, "ERROR: "+noOutput.Error(), http.StatusNotFound)
}

func attach(w http.ResponseWriter, name, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+path.Base(name)+`"`)
}

// sendArchive sends the existing files. An archive that breaks off lacks its directory, so it is
// recognized as incomplete.
func (a *API) sendArchive(w http.ResponseWriter, list []output, name string) {
	attach(w, name, "application/zip")
	z := zip.NewWriter(w)
	for _, o := range list {
		file, err := os.Open(o.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it may be missing
		}
		if err == nil {
			var into io.Writer
			if into, err = z.Create(o.name); err == nil {
				_, err = io.Copy(into, file)
			}
			_ = file.Close()
		}
		if err != nil {
			a.Log.Warn("an archive of output files broke off", "err", err)
			panic(http.ErrAbortHandler)
		}
	}
	_ = z.Close()
}

// shown returns the token if the parameter has the value that of computes from its authenticator.
func (f *boincFetch) shown(parameter string, of func(authenticator string) string) (store.Token, error) {
	given := f.q.Get(parameter)
	return f.bearerOf(f.tx, func(authenticator string) bool { return same(of(authenticator), given) })
}

func sumWith(text string) func(string) string {
	return func(authenticator string) string {
		sum := md5.Sum([]byte(authenticator + text))
		return hex.EncodeToString(sum[:])
	}
}

func plain(authenticator string) string { return authenticator }

// byName answers get_output.php.
func (f *boincFetch) byName() (list []output, archive string, err error) {
	number, _ := strconv.Atoi(f.q.Get("file_num"))
	switch f.q.Get("cmd") {
	case "result_file":
		name := f.q.Get("result_name")
		t, err := f.shown("auth_str", sumWith(name))
		if err != nil {
			return nil, "", err
		}
		r, err := f.tx.ResultByName(name)
		if err != nil {
			return nil, "", missing(err)
		}
		list, err := f.ofResult(t, r)
		return pick(list, number, err)
	case "workunit_file":
		t, err := f.shown("auth_str", plain)
		if err != nil {
			return nil, "", err
		}
		wu, err := f.tx.APIWorkunit(t.ID, f.q.Get("wu_name"))
		if err != nil {
			return nil, "", missing(err)
		}
		list, err := f.ofWorkunit(t, wu)
		return pick(list, number, err)
	case "workunit_files":
		return f.workunit("auth_str", sumWith(f.q.Get("wu_id")))
	case "batch_files":
		return f.batch("auth_str", sumWith(f.q.Get("batch_id")))
	}
	return nil, "", faultf(http.StatusBadRequest, "use result_file, workunit_file, workunit_files or batch_files", "there is no such cmd")
}

// byID answers get_output2.php.
func (f *boincFetch) byID() (list []output, archive string, err error) {
	switch cmd := f.q.Get("cmd"); cmd {
	case "result", "file":
		t, err := f.shown("auth", plain)
		if err != nil {
			return nil, "", err
		}
		id, _ := strconv.ParseInt(f.q.Get("result_id"), 10, 64)
		r, err := f.tx.Result(id)
		if err != nil {
			return nil, "", missing(err)
		}
		list, err := f.ofResult(t, r)
		if number, _ := strconv.Atoi(f.q.Get("file_num")); cmd == "file" || len(list) == 1 {
			return pick(list, number, err)
		}
		return list, r.Name + ".zip", err
	case "workunit":
		return f.workunit("auth", plain)
	case "batch":
		return f.batch("auth", plain)
	}
	return nil, "", faultf(http.StatusBadRequest, "use result, file, workunit or batch", "there is no such cmd")
}

// missing replaces the error for rows that do not exist.
func missing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return noOutput
	}
	return err
}

// pick is one of the files.
func pick(list []output, number int, err error) ([]output, string, error) {
	if err == nil && (number < 0 || number >= len(list)) {
		err = noOutput
	}
	if err != nil {
		return nil, "", err
	}
	return list[number : number+1], "", nil
}

func (f *boincFetch) workunit(parameter string, of func(string) string) (list []output, archive string, err error) {
	t, err := f.shown(parameter, of)
	if err != nil {
		return nil, "", err
	}
	id, _ := strconv.ParseInt(f.q.Get("wu_id"), 10, 64)
	wu, err := f.tx.Workunit(id)
	if err != nil {
		return nil, "", missing(err)
	}
	list, err = f.ofWorkunit(t, wu)
	return list, wu.Name + ".zip", err
}

func (f *boincFetch) batch(parameter string, of func(string) string) (list []output, archive string, err error) {
	t, err := f.shown(parameter, of)
	if err != nil {
		return nil, "", err
	}
	id, _ := strconv.ParseInt(f.q.Get("batch_id"), 10, 64)
	b, err := f.tx.APIBatch(id, t.ID)
	if err != nil {
		return nil, "", missing(err)
	}
	err = eachJob(f.tx, b, func(wu store.Workunit) error {
		files, err := f.ofWorkunit(t, wu)
		for _, o := range files {
			list = append(list, output{given(b, wu) + "/" + o.name, o.path})
		}
		if errors.Is(err, noOutput) {
			return nil
		}
		return err
	})
	return list, "batch_" + strconv.FormatInt(b.ID, 10) + ".zip", err
}

// ofWorkunit returns the output files of a workunit's canonical result.
func (f *boincFetch) ofWorkunit(t store.Token, wu store.Workunit) ([]output, error) {
	if wu.CanonicalResultID == 0 {
		return nil, noOutput
	}
	r, err := f.tx.Result(wu.CanonicalResultID)
	if err != nil {
		return nil, missing(err)
	}
	return f.ofResult(t, r)
}

// ofResult returns the output files of a canonical result of a token.
func (f *boincFetch) ofResult(t store.Token, r store.Result) (list []output, err error) {
	wu, err := f.tx.Workunit(r.WorkunitID)
	if err != nil {
		return nil, missing(err)
	}
	b, err := f.tx.APIBatchOf(wu.Batch, t.ID)
	if err != nil {
		return nil, missing(err)
	}
	if wu.CanonicalResultID != r.ID || wu.AssimilateState != store.AssimilateDone || !b.RetiredTime.IsZero() {
		return nil, noOutput
	}
	for _, p := range f.outputsOf(wu, r) {
		list = append(list, output{filepath.Base(p), p})
	}
	return list, nil
}
