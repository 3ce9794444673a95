package executor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
)

// initData completes the data that the application receives.
func (e *Executor) initData(t Task) appipc.InitData {
	d := t.Init
	d.ProjectDir, d.BoincDir = t.ProjectDir, e.dir
	d.Slot, d.ClientPID, d.SHMKey = t.Slot, os.Getpid(), -1
	if d.FractionDoneEnd == 0 {
		d.FractionDoneEnd = 1 // otherwise every reported fraction would be 0
	}
	return d
}

// command returns the process to be started and its open stderr, which the caller closes.
func (e *Executor) command(t Task, s *slot) (*exec.Cmd, *os.File, error) {
	info, err := s.project.Stat(t.Program)
	if err != nil {
		return nil, nil, err
	}
	if s.user != 0 && info.Mode()&0o055 != 0o055 {
		if err := s.project.Chmod(t.Program, info.Mode().Perm()|0o755); err != nil {
			return nil, nil, err
		}
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: %s is not a file", ErrUnusable, t.Program)
	}
	if info.Mode()&0o100 == 0 {
		if err := s.project.Chmod(t.Program, info.Mode().Perm()|0o755); err != nil {
			return nil, nil, err
		}
	}
	stderr, err := foreigndir.Append(s.dir, appipc.StderrFile, 0o664)
	if err != nil {
		return nil, nil, err
	}
	if err := s.give(stderr); err != nil {
		_ = stderr.Close()
		return nil, nil, err
	}
	// The program is started by its path in the project's folder, as seen from the slot, because
	// some programs look for their files next to themselves.
	cmd := t.runner().Command(filepath.FromSlash(s.link+"/"+t.Program), t.Args)
	cmd.Dir = filepath.Join(e.dir, filepath.FromSlash(slotName(t.Slot)))
	cmd.Env = environment(os.Environ(), e.named, s.link, cmd.Dir, e.free(t))
	cmd.Stderr = stderr
	ownGroup(cmd)
	return cmd, stderr, nil
}
