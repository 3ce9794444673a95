package boincimport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shirou/gopsutil/v3/process"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// ErrRunning means that a process still works in BOINC's folder.
var ErrRunning = errors.New("BOINC's client is running; stop it first (systemctl stop boinc-client, or quit BOINC Manager with its tasks)")

// lockFile is the file that BOINC's client locks in its folder.
const lockFile = "lockfile"

// Hold makes sure that no client works in the folder, and that none starts until release is called.
// A client that is set to allow several instances takes no lock, so Hold also looks at processes.
// The applications of a client may continue after it was killed.
func Hold(ctx context.Context, dir string) (release func(), err error) {
	d, err := foreigndir.Enter(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return hold(d, dir)
}

func hold(d *foreigndir.Door, dir string) (release func(), err error) {
	if release, err = lock(d); err != nil {
		return nil, err
	}
	if err := workers(dir); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func workers(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	slots := filepath.Join(real, "slots") + string(filepath.Separator)
	all, err := process.Processes()
	if err != nil {
		return fmt.Errorf("check whether BOINC's client is running: %w", err)
	}
	for _, p := range all {
		cwd, err := p.Cwd()
		if err != nil || int(p.Pid) == os.Getpid() {
			continue // gone, or of another user, whose lock was looked at
		}
		name, _ := p.Name()
		client := cwd == real && (name == "boinc" || name == "boinc.exe" || strings.HasPrefix(name, "boinc_client"))
		if client || strings.HasPrefix(cwd+string(filepath.Separator), slots) {
			return fmt.Errorf("%w: process %d (%s) is running in %s", ErrRunning, p.Pid, name, cwd)
		}
	}
	return nil
}
