// Package boincimport imports the work of a stopped BOINC client: accounts, preferences, settings,
// the host's identity, files, and tasks, started ones with their slots. The client's folder is only
// read.
package boincimport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/owner"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A Report lists everything that was imported.
type Report struct {
	Projects []ProjectReport `json:"projects"`
	Notes    []string        `json:"notes,omitempty"` // the parts that were left out, with reasons
}

// A ProjectReport lists it for a project.
type ProjectReport struct {
	MasterURL string `json:"master_url"`
	Name      string `json:"name"`
	HostID    int64  `json:"host_id"`
	Results   int    `json:"results"`
	Begun     int    `json:"begun"`    // of those, resume from a checkpoint
	Finished  int    `json:"finished"` // of those, wait to be sent or reported
}

// An importer carries one client's data over.
type importer struct {
	ctx      context.Context
	door     *foreigndir.Door // to from
	from, to string
	db       *state.DB
	client   *protocol.ClientStateFile
	config   boincconfig.Config
	now      time.Time
	report   Report
}

// Import imports all projects of the client whose data directory is from, or only those named, into
// the agent's data directory to. The agent must not run. Import refuses before anything is changed
// if a client or an agent runs, if a project is attached already, or if there is a task that the
// agent cannot finish. Projects are imported one after the other, each completely or not at all.
// After a crash, or when ctx ends, the same import continues with the remaining ones.
func Import(ctx context.Context, from, to string, only []string) (_ Report, err error) {
	door, err := foreigndir.Enter(ctx, from)
	if err != nil {
		return Report{}, err
	}
	defer door.Close()
	release, err := hold(door, from)
	if err != nil {
		return Report{}, err
	}
	defer release()
	m := &importer{ctx: ctx, door: door, from: from, to: to, now: time.Now()}
	if m.client, err = ReadState(door); err != nil {
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
	m.readConfig()
	if err := m.host(); err != nil {
		return m.report, err
	}
	if err := m.prefs(); err != nil {
		return m.report, err
	}
	if err := m.settings(); err != nil {
		return m.report, err
	}
	m.undeclared(plan)
	for _, j := range plan {
		if ctx.Err() != nil {
			return m.report, context.Cause(ctx)
		}
		if err := m.take(j); err != nil {
			return m.report, fmt.Errorf("import %s: %w", j.account.MasterURL, err)
		}
	}
	return m.report, nil
}

// ReadState reads the newest of the client's state files that is whole.
func ReadState(d *foreigndir.Door) (*protocol.ClientStateFile, error) {
	var errs []error
	for _, name := range []string{"client_state.xml", "client_state_prev.xml", "client_state_next.xml"} {
		b, err := d.Read(name, MaxState)
		if err == nil {
			var f *protocol.ClientStateFile
			if f, err = protocol.ParseClientState(b); err == nil {
				return f, nil
			}
		}
		if len(errs) == 0 || !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		if errors.Is(err, fs.ErrPermission) {
			break
		}
	}
	return nil, fmt.Errorf("%s is not a data directory of BOINC's client: %w", d.Path(), errors.Join(errs...))
}

func (m *importer) note(format string, args ...any) {
	m.report.Notes = append(m.report.Notes, fmt.Sprintf(format, args...))
}
