// Package boincimport takes over what a stopped client of BOINC's was doing:
// accounts, preferences, the host's identity, files, and tasks, begun ones with
// their slots. The client's folder is only read.
package boincimport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/owner"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/state"
)

// A Report says what was taken over.
type Report struct {
	Projects []ProjectReport `json:"projects"`
	Notes    []string        `json:"notes,omitempty"` // what was not, and why
}

// A ProjectReport says it of a project.
type ProjectReport struct {
	MasterURL string `json:"master_url"`
	Name      string `json:"name"`
	HostID    int64  `json:"host_id"`
	Results   int    `json:"results"`
	Begun     int    `json:"begun"`    // of those, go on from a checkpoint
	Finished  int    `json:"finished"` // of those, wait to be sent or reported
}

// An importer carries one client's data over.
type importer struct {
	from, to string
	db       *state.DB
	client   *protocol.ClientStateFile
	now      time.Time
	report   Report
}

// Import takes over all projects of the client whose data directory is from, or
// only those named, into the agent's data directory to, whose agent must not run.
// It refuses before anything is changed when a client or an agent runs, when a
// project is attached already, and when there is a task that the agent cannot
// finish. Projects are taken over one after the other, each wholly or not at all;
// after a crash the same import of those that are left goes on.
func Import(from, to string, only []string) (_ Report, err error) {
	release, err := Hold(from)
	if err != nil {
		return Report{}, err
	}
	defer release()
	m := &importer{from: from, to: to, now: time.Now()}
	if m.client, err = readState(from); err != nil {
		return Report{}, err
	}
	for _, d := range []string{"", "projects", "slots", settings.AccountsDir} {
		if err := os.MkdirAll(filepath.Join(to, d), 0o700); err != nil {
			return Report{}, fmt.Errorf("data directory: %w", err)
		}
	}
	if m.db, err = state.Open(filepath.Join(to, "state.db")); errors.Is(err, state.ErrInUse) {
		return Report{}, fmt.Errorf("an agent is running in %s; stop it first", to)
	} else if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, m.db.Close(), owner.Inherit(to)) }()
	plan, err := m.plan(only)
	if err != nil {
		return Report{}, err
	}
	if err := m.host(); err != nil {
		return m.report, err
	}
	if err := m.prefs(); err != nil {
		return m.report, err
	}
	for _, j := range plan {
		if err := m.take(j); err != nil {
			return m.report, fmt.Errorf("import %s: %w", j.account.MasterURL, err)
		}
	}
	return m.report, nil
}

// readState reads the newest of the client's state files that is whole.
func readState(dir string) (*protocol.ClientStateFile, error) {
	var errs []error
	for _, name := range []string{"client_state.xml", "client_state_prev.xml", "client_state_next.xml"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			var f *protocol.ClientStateFile
			if f, err = protocol.ParseClientState(b); err == nil {
				return f, nil
			}
		}
		errs = append(errs, err)
		if errors.Is(err, fs.ErrPermission) {
			break
		}
	}
	return nil, fmt.Errorf("%s is no data directory of BOINC's client: %w", dir, errors.Join(errs...))
}

// A job is a project to be taken over.
type job struct {
	account   settings.Account
	suspended bool
	taken     Taken
}

// plan decides what to take, and changes nothing.
func (m *importer) plan(only []string) (jobs []job, err error) {
	accounts, _, err := settings.LoadAccounts(m.to)
	if err != nil {
		return nil, err
	}
	attached := make(map[string]bool)
	for _, a := range accounts {
		attached[protocol.EscapeURL(a.MasterURL)] = true
	}
	var errs []error
	for i, u := range only {
		if only[i], err = protocol.CanonicalMasterURL(u); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(m.client.Projects, func(p protocol.ClientProject) bool { return p.MasterURL == only[i] }) {
			errs = append(errs, fmt.Errorf("%s: BOINC's client is not attached to it", only[i]))
		}
	}
	for _, p := range m.client.Projects {
		u := p.MasterURL
		if len(only) > 0 && !slices.Contains(only, u) {
			m.note("%s is left with BOINC, as asked", u)
			continue
		}
		key, err := accountKey(m.from, u)
		switch canonical, errURL := protocol.CanonicalMasterURL(u); {
		case errors.Is(err, fs.ErrNotExist):
			m.note("%s has no account file and is not taken over; BOINC would not go on with it either", u)
			continue
		case err != nil:
			errs = append(errs, err)
		case errURL != nil || canonical != u:
			errs = append(errs, fmt.Errorf("%s: not a usable master URL", u))
		case attached[protocol.EscapeURL(u)]:
			errs = append(errs, fmt.Errorf("%s: the agent in %s is attached to it already", u, m.to))
		case p.Anonymous:
			errs = append(errs, fmt.Errorf("%s: it runs applications of your own (app_info.xml), which Starling does not; leave it with BOINC by naming the others with --only", u))
		default:
			t, err := convert(p, m.client.Tasks, m.now)
			errs = append(errs, err)
			jobs = append(jobs, job{
				account:   settings.Account{MasterURL: u, Authenticator: key, ResourceShare: p.ResourceShare, NoMoreWork: p.NoMoreWork},
				suspended: p.Suspended, taken: t,
			})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("nothing was imported:\n%w", err)
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s: no projects to import", m.from)
	}
	return jobs, nil
}

func (m *importer) note(format string, args ...any) {
	m.report.Notes = append(m.report.Notes, fmt.Sprintf(format, args...))
}

// host takes over who this computer is, unless the agent has computed before.
func (m *importer) host() error {
	h, _ := m.db.Hosts.Get(state.Self)
	if h.CPID != "" && m.db.Projects.Len() > 0 {
		m.note("the agent keeps its own identity, since it has projects already")
		return nil
	}
	if h.InstalledAt.IsZero() {
		h.InstalledAt = m.now
	}
	b := m.client
	h.CPID = b.Host.HostCPID
	h.Fpops, h.Iops, h.Measured = b.Host.Fpops, b.Host.Iops, b.Host.Calculated
	if t := b.Times; t.OnFrac > 0 {
		h.Times = state.Times{On: within(t.OnFrac), Active: within(t.ActiveFrac), Connected: 1}
		if t.ConnectedFrac >= 0 {
			h.Times.Connected = within(t.ConnectedFrac)
		}
	}
	modes := map[int]prefs.ModeKind{1: prefs.Always, 3: prefs.Never}
	h.RunMode.Kind, h.NetMode.Kind = modes[b.RunMode], modes[b.NetMode]
	return m.db.Update(func(tx *state.Tx) { m.db.Hosts.Put(tx, state.Self, h) })
}

func within(x float64) float64 { return max(0, min(x, 1)) }

// prefs takes over the computing preferences: those of a project's web site, and
// what was changed on this computer.
func (m *importer) prefs() error {
	if b, err := os.ReadFile(filepath.Join(m.from, "global_prefs.xml")); err == nil {
		if err := m.webPrefs(b); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name := filepath.Join(m.from, "global_prefs_override.xml")
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(m.to, settings.PrefsOverrideFile)); err == nil {
		m.note("%s is not taken over, since %s is there already", filepath.Base(name), settings.PrefsOverrideFile)
		return nil
	}
	l, err := prefs.ParseFile(name, b, m.client.HostVenue, false)
	if err != nil {
		return err
	}
	return settings.WritePrefsOverride(m.to, l)
}

func (m *importer) webPrefs(b []byte) error {
	s := bxml.NewScanner(b)
	if err := s.Find("global_preferences"); err != nil {
		return fmt.Errorf("global_prefs.xml: %w", err)
	}
	p := state.AccountPrefs{XML: s.Raw()}
	var err error
	if _, p.Changed, err = prefs.ParseXML("global_prefs.xml", p.XML, "", true); err != nil {
		return err
	}
	for s, found := bxml.NewScanner(b), false; !found && s.Find("source_project") == nil; found = true {
		p.Project = s.Text()
	}
	h, _ := m.db.Hosts.Get(state.Self)
	if h.Prefs.XML != "" && !p.Changed.After(h.Prefs.Changed) {
		return nil
	}
	h.Prefs = p
	return m.db.Update(func(tx *state.Tx) { m.db.Hosts.Put(tx, state.Self, h) })
}

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
	for i := range t.Files {
		f := &t.Files[i]
		perm := os.FileMode(0o644)
		if f.Executable {
			perm = 0o755
		}
		err := copyFile(src, dst, f.Name, f.Name, perm)
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return err
		}
		if f.Local != state.FilePresent {
			continue // an output that is being made, or nothing
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
			f.Local, f.ErrNum, f.Error = state.FileFailed, protocol.ErrNumFileMissing, "not whole in BOINC's folder: "+err.Error()
			m.note("output file %s is not whole: %v", f.Name, err)
		default:
			f.Local = state.FileAbsent
			if err := filexfer.Remove(dst, f.Name); err != nil {
				return err
			}
			m.note("file %s is fetched again: %v", f.Name, err)
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

// slots copies the slots of begun tasks to numbers that are free here. A task
// whose slot has gone begins anew.
func (m *importer) slots(t *Taken) error {
	taken := make(map[int]bool)
	for _, r := range m.db.Results.All() {
		taken[r.Slot] = true
	}
	for i := range t.Results {
		r := &t.Results[i]
		if r.Slot == state.NoSlot {
			continue
		}
		from := filepath.Join(m.from, "slots", strconv.Itoa(r.Slot))
		if st, err := os.Stat(from); err != nil || !st.IsDir() {
			m.note("task %s begins anew: its slot %d has gone", r.Name, r.Slot)
			r.Slot, r.Started, r.Checkpoint = state.NoSlot, time.Time{}, state.Checkpoint{}
			continue
		}
		n := 0
		for taken[n] {
			n++
		}
		taken[n], r.Slot = true, n
		to := filepath.Join(m.to, "slots", strconv.Itoa(n))
		if err := copySlot(from, to); err != nil {
			return err
		}
		if b, err := os.ReadFile(filepath.Join(to, appipc.TaskStateFile)); err == nil {
			if st, err := appipc.ParseTaskState(b); err == nil && st.ResultName == r.Name && st.CPUTime > r.Checkpoint.CPUTime {
				r.Checkpoint = state.Checkpoint{CPUTime: st.CPUTime, Elapsed: st.Elapsed, Fraction: st.FractionDone}
			}
		}
		if err := markSlot(to, *r); err != nil {
			return err
		}
	}
	return nil
}

// markSlot writes what tells the executor whose slot it is, and how far.
func markSlot(dir string, r state.Result) error {
	c := appipc.TaskState{
		ProjectURL: r.Project, ResultName: r.Name,
		CPUTime: r.Checkpoint.CPUTime, Elapsed: r.Checkpoint.Elapsed, FractionDone: r.Checkpoint.Fraction,
	}
	if err := atomicfile.Write(filepath.Join(dir, appipc.TaskStateFile), c.Encode(), 0o664); err != nil {
		return err
	}
	var w bxml.Writer
	w.Open("setup")
	w.Text("result_name", protocol.EscapeURL(r.Project)+"/"+r.Name)
	w.Close("setup")
	return atomicfile.Write(filepath.Join(dir, appipc.SetupFile), w.Bytes(), 0o664)
}

// copySlot copies a slot without what belongs to the process that ran in it.
func copySlot(from, to string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o771); err != nil { //nolint:gosec // as the executor's: applications may be another user
		return err
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	return fs.WalkDir(src.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if slices.Contains([]string{appipc.InitDataFile, appipc.MmapFile, appipc.LockFile, appipc.SetupFile}, path) || strings.HasSuffix(path, ".new") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return dst.Mkdir(path, info.Mode().Perm()|0o700)
		case info.Mode().IsRegular():
			return copyFile(src, dst, path, path, info.Mode().Perm()|0o600)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := src.Readlink(path)
			if err != nil {
				return err
			}
			return dst.Symlink(target, path)
		}
		return nil
	})
}

// copyFile copies a regular file and syncs it. What is there already is replaced.
func copyFile(src, dst *os.Root, from, to string, perm os.FileMode) (err error) {
	in, err := src.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if st, err := in.Stat(); err != nil {
		return err
	} else if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", from)
	}
	out, err := dst.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := out.Chmod(perm); err != nil {
		return err
	}
	return out.Sync()
}
