package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/starling-grid/starling/internal/mmapfile"
	"github.com/starling-grid/starling/protocol/appipc"
)

// channels makes new shared memory, zeroed. A file that an earlier run has
// mapped is not reused.
func (s *slot) channels() (appipc.Channels, []byte, error) {
	if err := s.dir.Remove(appipc.MmapFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return appipc.Channels{}, nil, err
	}
	f, err := s.dir.OpenFile(appipc.MmapFile, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o660)
	if err != nil {
		return appipc.Channels{}, nil, err
	}
	defer f.Close()
	if err := f.Truncate(appipc.MmapSize); err != nil {
		return appipc.Channels{}, nil, err
	}
	mem, err := mmapfile.Map(f, appipc.MmapSize)
	if err != nil {
		return appipc.Channels{}, nil, err
	}
	ipc, err := appipc.NewChannels(mem)
	return ipc, mem, err
}

// initData completes what the application is told.
func (e *Executor) initData(t Task) appipc.InitData {
	d := t.Init
	d.ProjectDir, d.BoincDir = t.ProjectDir, e.dir
	d.Slot, d.ClientPID, d.SHMKey = t.Slot, os.Getpid(), -1
	if d.FractionDoneEnd == 0 {
		d.FractionDoneEnd = 1 // or every report would be 0
	}
	return d
}

// command returns the process to be started, its stderr open; the caller
// closes that.
func (e *Executor) command(t Task, s *slot) (*exec.Cmd, *os.File, error) {
	info, err := s.project.Stat(t.Program)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: %s is not a file", ErrUnusable, t.Program)
	}
	if info.Mode()&0o100 == 0 {
		if err := s.project.Chmod(t.Program, info.Mode().Perm()|0o755); err != nil {
			return nil, nil, err
		}
	}
	stderr, err := s.dir.OpenFile(appipc.StderrFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o664)
	if err != nil {
		return nil, nil, err
	}
	// The program starts by its path in the project's folder, seen from the
	// slot: some look for their files beside themselves.
	cmd := exec.Command(filepath.FromSlash(s.link+"/"+t.Program), t.Args...)
	if len(t.Runner) > 0 {
		cmd = exec.Command(t.Runner[0], slices.Concat(t.Runner[1:], []string{filepath.FromSlash(s.link + "/" + t.Program)}, t.Args)...)
	}
	cmd.Dir = filepath.Join(e.dir, filepath.FromSlash(slotName(t.Slot)))
	cmd.Env = environment(os.Environ(), e.named, s.link, cmd.Dir)
	cmd.Stderr = stderr
	ownGroup(cmd)
	return cmd, stderr, nil
}
