// Package doctor finds what keeps an agent from its work that a volunteer cannot
// easily see, and says what to do about it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/state"
)

// A Grade says how bad a finding is.
type Grade string

// The grades. Only Wrong keeps the agent from working as it should.
const (
	Good  Grade = "ok"
	Note  Grade = "note"
	Wrong Grade = "wrong"
)

// A Finding is what came of one check.
type Finding struct {
	Check string `json:"check"`
	Grade Grade  `json:"grade"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"` // what to do
}

// leastDisk is how much free disk an agent can hardly do without, in bytes.
const leastDisk = 200e6

// Examine looks at an agent's data directory, this computer and the projects'
// servers. It changes nothing.
func Examine(ctx context.Context, dataDir string) []Finding {
	all := []Finding{data(dataDir), disk(dataDir), memory(dataDir)}
	s, wrong, err := settings.InForce(dataDir, time.Now())
	all = append(all, text("settings", errors.Join(wrong, err)))
	inForce, err := settings.ReadAccounts(dataDir)
	for _, path := range inForce.Missing {
		err = errors.Join(err, fmt.Errorf("%s is missing: put it back, or detach with: starling detach", path))
	}
	accounts := inForce.All()
	all = append(all, text("accounts", err))
	status, err := control.NewClient(dataDir).Status(ctx)
	running := err == nil
	all = append(all, agentRuns(err), port(ctx, s.GUIRPCPort, running), tools(dataDir, s.GUIRPCPort), box(s.Sandbox), idle())
	if running {
		all = append(all, groups(status.Bounded))
	}
	if len(accounts) == 0 {
		all = append(all, Finding{"projects", Note, "attached to none", "attach to one with: starling attach"})
	}
	way, err := httpclient.Transport(s.Proxy, s.NoProxy)
	if err != nil {
		return all // told of as settings
	}
	for _, a := range accounts {
		all = append(all, server(ctx, way, a.MasterURL, time.Now)...)
	}
	return all
}

func data(dir string) Finding {
	f := Finding{Check: "data directory", Grade: Wrong}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Grade, f.Text, f.Fix = Note, dir+" is not there yet", "the first start of the agent makes it"
		return f
	case err != nil:
		f.Text, f.Fix = err.Error(), "run this as the agent's user, or with sudo"
		return f
	case !st.IsDir():
		f.Text, f.Fix = dir+" is not a folder", "choose another with --data"
		return f
	}
	for _, name := range []string{"", "projects", "slots", settings.AccountsDir} {
		path := filepath.Join(dir, name)
		probe, err := os.CreateTemp(path, ".doctor-")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			f.Text, f.Fix = err.Error(), "give the folder to the agent's user (chown -R), or run this as that user"
			return f
		}
		_ = probe.Close()
		if err := os.Remove(probe.Name()); err != nil {
			f.Text = err.Error()
			return f
		}
	}
	return Finding{Check: f.Check, Grade: Good, Text: dir}
}

// memory looks at the agent's durable state.
func memory(dir string) Finding {
	path := filepath.Join(dir, "state.db")
	f := Finding{Check: "state", Grade: Good, Text: "can be read as it was written"}
	db, err := state.OpenReadOnly(path)
	switch {
	case err == nil:
		_ = db.Close()
	case errors.Is(err, state.ErrInUse):
		f.Text = "in use by the agent"
	case errors.Is(err, fs.ErrNotExist):
		f.Grade, f.Text = Note, "there is none yet"
	case errors.Is(err, state.ErrDamaged):
		f.Grade, f.Text = Wrong, err.Error()
		f.Fix = "start the agent: it sets the file aside and restores the last good copy; then check the disk"
		return f
	default:
		f.Grade, f.Text, f.Fix = Wrong, err.Error(), "run this as the agent's user, or with sudo"
		return f
	}
	if aside, _ := filepath.Glob(path + ".damaged-*"); len(aside) > 0 {
		f.Grade, f.Fix = Note, "check the disk, and remove the file when you do not need it"
		f.Text += "; a damaged one was set aside: " + aside[len(aside)-1]
	}
	return f
}

func disk(dir string) Finding {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, ok := hostinfo.DiskFree(dir)
	f := Finding{Check: "disk", Grade: Good, Text: fmt.Sprintf("%.1f GB free", free/1e9)}
	switch {
	case !ok:
		f.Grade, f.Text = Note, "how much is free cannot be told"
	case free < leastDisk:
		f.Grade, f.Fix = Wrong, "free some space; nothing can be fetched or saved without"
	}
	return f
}

// text judges a file that a person writes.
func text(check string, err error) Finding {
	if err != nil {
		return Finding{check, Wrong, err.Error(), "put the file right; what held before goes on holding while the agent runs"}
	}
	return Finding{Check: check, Grade: Good, Text: "can be read"}
}

func agentRuns(err error) Finding {
	switch {
	case err == nil:
		return Finding{Check: "agent", Grade: Good, Text: "running"}
	case errors.Is(err, control.ErrNotRunning):
		return Finding{"agent", Note, "not running, or of another user", "start it with: starling run, or: starling service install"}
	}
	return Finding{"agent", Wrong, err.Error(), "see its log"}
}

// port tells whether an agent could take the port of BOINC's tools.
func port(ctx context.Context, n int, running bool) Finding {
	f := Finding{Check: "port for BOINC's tools", Grade: Good, Text: "none is wanted"}
	if n == 0 {
		return f
	}
	f.Text = strconv.Itoa(n)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", f.Text))
	if err == nil {
		_ = l.Close()
		f.Text += " is free"
	} else if !running {
		f.Grade, f.Text = Wrong, err.Error()
		f.Fix = "a BOINC client or another agent has it; stop that, or set gui_rpc_port in starling.toml"
	}
	return f
}

func tools(dir string, port int) Finding {
	who := "nobody"
	if port != 0 {
		who = "programs on this computer that know the password in gui_rpc_auth.cfg"
		if _, remote := settings.RemoteHosts(dir); remote {
			who = "programs here and on the computers in remote_hosts.cfg that know the password in gui_rpc_auth.cfg"
		}
	}
	return Finding{Check: "who can steer", Grade: Good, Text: who}
}

func box(wanted bool) Finding {
	if !wanted {
		return Finding{"sandbox", Note, "switched off in starling.toml", "remove the line sandbox = false unless a program needs it"}
	}
	words, enforced := sandbox.Level()
	if !enforced {
		return Finding{"sandbox", Note, words, "attach only to projects that you trust"}
	}
	return Finding{Check: "sandbox", Grade: Good, Text: words}
}

// groups tells what of a task's bounds the system keeps.
func groups(bounded string) Finding {
	if bounded == "" {
		return Finding{"bounds of tasks", Note, "kept by the agent, which looks every second", "as a service of systemd with Delegate=yes (starling service install) the system keeps them"}
	}
	return Finding{Check: "bounds of tasks", Grade: Good, Text: "kept by the system in control groups: " + bounded}
}

func idle() Finding {
	names := hostinfo.IdleSources()
	if len(names) == 0 {
		return Finding{"use of the computer", Note, "nothing tells here", "if tasks get in your way, use: starling mode never --for 2h"}
	}
	return Finding{Check: "use of the computer", Grade: Good, Text: "told by " + strings.Join(names, ", ")}
}
