package boincimport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/state"
)

// take moves a project over: its files, then its records, then the account, which makes the agent
// work for it.
func (m *importer) take(j job) error {
	t, u := &j.taken, j.account.MasterURL
	folder := protocol.EscapeURL(u)
	dst, err := m.makeRoot(filepath.Join("projects", folder), 0o700)
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
	if b, err := m.read(log, maxHistory); err == nil {
		if err := atomicfile.Write(filepath.Join(m.to, log), b, 0o600); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		m.note("the job log was not imported: %v", err)
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
func executable(d *foreigndir.Door, name string) bool {
	st, err := d.Stat(name)
	return err == nil && st.Mode().Perm()&0o111 != 0
}

// errUnchecked means that a file's content cannot be verified.
var errUnchecked = errors.New("BOINC's client noted no checksum of it")

// mostBytes returns the maximum size of a file.
func mostBytes(f state.File) int64 {
	switch {
	case f.NBytes > 0:
		return f.NBytes
	case f.Output && f.MaxNBytes > 0:
		return f.MaxNBytes
	}
	return maxUnknown
}

// files copies the project's files. A file that does not match the project's description is left
// behind: an input is fetched again, an output is lost and reported as such.
func (m *importer) files(t *Taken, folder string, dst *os.Root) error {
	src, err := m.door.Into("projects/" + folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer src.Close()
	if t.Project.Anonymous {
		if err := src.Copy(protocol.AppInfoFile, dst, protocol.AppInfoFile, 0o644, maxNotes); err != nil {
			return err
		}
	}
	for i := range t.Files {
		f := &t.Files[i]
		perm := os.FileMode(0o644)
		if f.Executable || f.Own && executable(src, f.Name) {
			perm = 0o755
		}
		err := src.Copy(f.Name, dst, f.Name, perm, mostBytes(*f))
		missing := errors.Is(err, fs.ErrNotExist)
		unusable := errors.Is(err, foreigndir.ErrIrregular) || errors.Is(err, foreigndir.ErrTooLarge)
		switch {
		case unusable && f.Own:
			return fmt.Errorf("%w; put the file itself there", err)
		case unusable && f.Local != state.FilePresent:
			m.note("file %s was not imported: %v", f.Name, err)
		case err != nil && !missing && !unusable:
			return err
		}
		if f.Local != state.FilePresent || f.Own && !missing {
			continue // an unfinished output, nothing at all, or the volunteer's
		}
		if err == nil && !f.AppFile && f.MD5 == "" {
			err = errUnchecked
		} else if err == nil {
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
	if err := src.Names(func(name string) bool {
		if _, _, ok := appipc.ParseTrickleName(name); !ok {
			return true
		}
		if err := src.Copy(name, dst, name, 0o644, executor.MaxTrickle); err != nil {
			m.note("message %s was not imported: %v", name, err)
		}
		return true
	}); err != nil {
		return err
	}
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return atomicfile.SyncDir(filepath.Join(m.to, "projects", folder))
}
