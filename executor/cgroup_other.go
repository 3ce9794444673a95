//go:build !linux && !windows

package executor

import (
	"os/exec"
	"syscall"
	"time"
)

type groups struct{}

// A group does nothing on this system.
type group struct{}

// UseControlGroups does nothing on this system.
func (*Executor) UseControlGroups() (bounded string, err error) { return "", nil }

func (groups) make(int) (*group, error)   { return nil, nil }
func (*group) enter(*syscall.SysProcAttr) {}
func (*group) bound(int64, int, bool)     {}
func (*group) limitCPU(float64) bool      { return false }
func (*group) entered(*exec.Cmd) error    { return nil }
func (*group) members() ([]int, bool)     { return nil, false }
func (*group) freeze(bool, int) bool      { return false }
func (*group) kill() int                  { return 0 }
func (*group) cpu() time.Duration         { return 0 }
func (*group) outOfMemory() bool          { return false }
func (*group) remove() error              { return nil }
