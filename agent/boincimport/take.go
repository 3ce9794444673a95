package boincimport

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/state"
)

// take carries a project over: its files, then what is known of it, then the
// account, which makes the agent work for it.
func (m *importer) take(j job) error {
	t, u := &j.taken, j.account.MasterURL
	folder := protocol.EscapeURL(u)
	if err := os.MkdirAll(filepath.Join(m.to, "projects", folder), 0o700); err != nil {
		return err
	}
	dst, err := os.OpenRoot(filepath.Join(m.to, "projects", folder))
	if err != nil {
		return err
	}
	defer dst.Close()
	if err := m.files(t, folder, dst); err != nil {
		return err
	}
	if err := m.slots(t); err != nil {
		return err
	}
	m.history(&t.Project)
	log := "job_log_" + folder + ".txt"
	if b, err := os.ReadFile(filepath.Join(m.from, log)); err == nil {
		if err := atomicfile.Write(filepath.Join(m.to, log), b, 0o644); err != nil {
			return err
		}
	}
	if err := m.db.Update(func(tx *state.Tx) { m.put(tx, t) }); err != nil {
		return err
	}
	if err := settings.WriteAccount(m.to, j.account); err != nil {
		return err
	}
	if j.suspended {
		yes := true
		if err := settings.ChangeAccount(m.to, u, func(o *settings.Override) { o.Suspended = &yes }); err != nil {
			return err
		}
	}
	m.limits(u)
	r := ProjectReport{MasterURL: u, Name: t.Project.Name, HostID: t.Project.HostID, Results: len(t.Results)}
	for _, res := range t.Results {
		if res.Slot != state.NoSlot {
			r.Begun++
		}
		if !res.Computing() || res.ReadyToReport {
			r.Finished++
		}
	}
	m.report.Projects = append(m.report.Projects, r)
	return nil
}

func (m *importer) put(tx *state.Tx, t *Taken) {
	u := t.Project.MasterURL
	m.db.Projects.Put(tx, u, t.Project)
	for _, a := range t.Apps {
		m.db.Apps.Put(tx, state.Key(u, a.Name), a)
	}
	for _, f := range t.Files {
		m.db.Files.Put(tx, state.Key(u, f.Name), f)
	}
	for _, v := range t.Versions {
		m.db.Versions.Put(tx, v.ID(), v)
	}
	for _, w := range t.Units {
		m.db.Units.Put(tx, state.Key(u, w.Name), w)
	}
	for _, r := range t.Results {
		m.db.Results.Put(tx, state.Key(u, r.Name), r)
	}
}

// executable reports whether a file may be run.
func executable(dir *os.Root, name string) bool {
	st, err := dir.Stat(name)
	return err == nil && st.Mode().Perm()&0o111 != 0
}

// files copies the project's files. One that is not what the project described
// is left behind: an input is fetched again, an output is lost and reported so.
func (m *importer) files(t *Taken, folder string, dst *os.Root) error {
	from := filepath.Join(m.from, "projects", folder)
	src, err := os.OpenRoot(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer src.Close()
	if t.Project.Anonymous {
		if err := copyFile(src, dst, protocol.AppInfoFile, protocol.AppInfoFile, 0o644); err != nil {
			return err
		}
	}
	for i := range t.Files {
		f := &t.Files[i]
		perm := os.FileMode(0o644)
		if f.Executable || f.Own && executable(src, f.Name) {
			perm = 0o755
		}
		err := copyFile(src, dst, f.Name, f.Name, perm)
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return err
		}
		if f.Local != state.FilePresent || f.Own && !missing {
			continue // an output that is being made, or nothing; or the volunteer's
		}
		if !missing {
			err = filexfer.Download{
				Dir: dst, Name: f.Name, NBytes: f.NBytes, MD5: f.MD5,
				Signed: f.AppFile, Signature: f.Signature, Key: t.Project.CodeSignKey,
			}.Check()
		}
		switch {
		case err == nil || f.Done:
		case f.Output:
			f.Local, f.ErrNum, f.Error = state.FileFailed, protocol.ErrNumFileMissing, "incomplete in BOINC's folder: "+err.Error()
			m.note("output file %s is incomplete: %v", f.Name, err)
		default:
			f.Local = state.FileAbsent
			if err := filexfer.Remove(dst, f.Name); err != nil {
				return err
			}
			m.note("file %s will be downloaded again: %v", f.Name, err)
		}
	}
	// Applications' messages that the project does not have yet.
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, _, ok := appipc.ParseTrickleName(e.Name()); ok {
			if err := copyFile(src, dst, e.Name(), e.Name(), 0o644); err != nil {
				return err
			}
		}
	}
	return atomicfile.SyncDir(filepath.Join(m.to, "projects", folder))
}
