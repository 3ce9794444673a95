package executor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// groups creates a job object for each run, without any preparation.
type groups struct{}

// UseControlGroups does nothing: job objects are always available.
func (*Executor) UseControlGroups() (bounded string, err error) { return "", nil }

// A group is the job object of one run. It contains the run's processes, which cannot leave it.
// They end with the job, and so with the agent, however that ends. The methods of a nil group do
// nothing.
type group struct {
	job    windows.Handle
	frozen map[int]windows.Handle // processes that were suspended
}

// killed is the exit code of processes that the agent ends: the same as for a program that was
// stopped from outside, see outsideStatus.
const killed = 0xC000013A

// uiLimits forbids everything that an application with a window could do to a desktop.
const uiLimits = windows.JOB_OBJECT_UILIMIT_HANDLES | windows.JOB_OBJECT_UILIMIT_READCLIPBOARD |
	windows.JOB_OBJECT_UILIMIT_WRITECLIPBOARD | windows.JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS |
	windows.JOB_OBJECT_UILIMIT_DISPLAYSETTINGS | windows.JOB_OBJECT_UILIMIT_GLOBALATOMS |
	windows.JOB_OBJECT_UILIMIT_DESKTOP | windows.JOB_OBJECT_UILIMIT_EXITWINDOWS

// make returns a new job for a slot.
func (groups) make(int) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateJobObject", err)
	}
	g := &group{job: job, frozen: make(map[int]windows.Handle)}
	if err := g.limit(0, 0); err != nil {
		_ = g.remove()
		return nil, err
	}
	ui := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: uiLimits}
	_, _ = windows.SetInformationJobObject(job, windows.JobObjectBasicUIRestrictions, uintptr(unsafe.Pointer(&ui)), uint32(unsafe.Sizeof(ui))) //nolint:gosec // as the system wants it
	return g, nil
}

// committed is the number of bytes that a job may commit for each byte that it may occupy:
// committed memory is often never used.
const committed = 2

// limits returns the settings for a job that is limited to so many bytes and processes. 0 means no
// limit.
func limits(memory int64, processes int) (l windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) {
	b := &l.BasicLimitInformation
	b.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	if memory > 0 {
		b.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		l.JobMemoryLimit = uintptr(memory * committed)
	}
	if processes > 0 {
		b.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		b.ActiveProcessLimit = uint32(processes) //nolint:gosec // some
	}
	return l
}

func (g *group) limit(memory int64, processes int) error {
	l := limits(memory, processes)
	if _, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&l)), uint32(unsafe.Sizeof(l))); err != nil { //nolint:gosec // as the system wants it
		return os.NewSyscallError("SetInformationJobObject", err)
	}
	return nil
}

// cpuRate is the data of JobObjectCpuRateControlInformation: a job's weight determines its share of
// the processors.
type cpuRate struct{ flags, weight uint32 }

// Weights range from 1 to 9, and the default is 5.
const (
	rateEnabled, rateByWeight = 0x1, 0x2
	leastWeight               = 1
)

// limitCPU returns false: a job's rate is only a weight.
func (*group) limitCPU(float64) bool { return false }

// bound limits the job to so many bytes of memory and so many processes (0: no limit), and with
// idle set gives it the least weight. Windows does not limit threads, and the limit on processes is
// moreTasks times the allowed number, so the agent itself ends a run that has too many.
func (g *group) bound(memory int64, tasks int, idle bool) {
	if g == nil {
		return
	}
	_ = g.limit(memory, tasks)
	if idle {
		r := cpuRate{rateEnabled | rateByWeight, leastWeight}
		_, _ = windows.SetInformationJobObject(g.job, windows.JobObjectCpuRateControlInformation, uintptr(unsafe.Pointer(&r)), uint32(unsafe.Sizeof(r))) //nolint:gosec // as the system wants it
	}
}

// enter makes a command wait after its start until entered is called.
func (g *group) enter(attr *syscall.SysProcAttr) {
	if g != nil {
		attr.CreationFlags |= windows.CREATE_SUSPENDED
	}
}

// entered puts a started process into the job before its first instruction, and lets it run.
func (g *group) entered(cmd *exec.Cmd) error {
	if g == nil {
		return nil
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.PROCESS_SUSPEND_RESUME, false, uint32(cmd.Process.Pid)) //nolint:gosec // process ids are that small
	if err == nil {
		defer func() { _ = windows.CloseHandle(h) }()
		if err = windows.AssignProcessToJobObject(g.job, h); err == nil {
			err = ntProcess(ntResumeProcess, h)
		}
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("put the application into its job object: %w", err)
	}
	return nil
}

var (
	ntdll            = windows.NewLazySystemDLL("ntdll.dll")
	ntSuspendProcess = ntdll.NewProc("NtSuspendProcess")
	ntResumeProcess  = ntdll.NewProc("NtResumeProcess")
)

// ntProcess suspends or resumes all threads of a process. Each thread counts how often it was
// suspended.
func ntProcess(what *windows.LazyProc, h windows.Handle) error {
	if status, _, _ := what.Call(uintptr(h)); status != 0 {
		return windows.NTStatus(status) //nolint:gosec // 32 bits
	}
	return nil
}

// members returns the IDs of the job's processes. ok is false if they are unknown.
func (g *group) members() (pids []int, ok bool) {
	if g == nil {
		return nil, false
	}
	for room := 64; room <= 1<<20; room *= 4 {
		// Two counts of 32 bits, then ids as wide as a pointer.
		list := make([]uintptr, 1+room)
		err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list[0])), uint32(len(list))*uint32(unsafe.Sizeof(list[0])), nil) //nolint:gosec // as the system wants it
		if errors.Is(err, windows.ERROR_MORE_DATA) {
			continue
		}
		if err != nil {
			return nil, false
		}
		n := (*[2]uint32)(unsafe.Pointer(&list[0]))[1] //nolint:gosec // the second count: of those in the list
		for _, pid := range list[1 : 1+n] {
			pids = append(pids, int(pid))
		}
		return pids, true
	}
	return nil, false
}

// freeze suspends all processes of the job except spared (0: no exception), or resumes those that
// it has suspended. It reports whether it could.
func (g *group) freeze(v bool, spared int) bool {
	if g == nil {
		return false
	}
	if !v {
		for pid, h := range g.frozen {
			_ = ntProcess(ntResumeProcess, h) // it may have ended
			_ = windows.CloseHandle(h)
			delete(g.frozen, pid)
		}
		return true
	}
	// Processes that are not suspended yet may start others.
	for more := true; more; {
		more = false
		pids, ok := g.members()
		if !ok {
			return false
		}
		for _, pid := range pids {
			if g.frozen[pid] != 0 || pid == spared {
				continue
			}
			h, err := windows.OpenProcess(windows.PROCESS_SUSPEND_RESUME, false, uint32(pid)) //nolint:gosec // process ids are that small
			if err != nil {
				continue // it has ended
			}
			if err := ntProcess(ntSuspendProcess, h); err != nil {
				_ = windows.CloseHandle(h)
				continue
			}
			g.frozen[pid], more = h, true
		}
	}
	return true
}

// kill ends all processes of the job and returns how many there were.
func (g *group) kill() int {
	pids, ok := g.members()
	if !ok {
		return 0
	}
	_ = windows.TerminateJobObject(g.job, killed)
	return len(pids)
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION. Its times are in units of 100 ns.
type accounting struct {
	user, kernel, periodUser, periodKernel   int64
	pageFaults, processes, active, exceeding uint32
}

// cpu returns the CPU time of the job's processes, including those that have ended.
func (g *group) cpu() time.Duration {
	if g == nil {
		return 0
	}
	var a accounting
	if windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil) != nil { //nolint:gosec // as the system wants it
		return 0
	}
	return time.Duration(a.user+a.kernel) * 100
}

// outOfMemory returns false: Windows refuses further memory to an application that reaches the
// limit, and the application decides itself how to react.
func (*group) outOfMemory() bool { return false }

// remove ends the processes that are left in the job and closes it.
func (g *group) remove() error {
	if g == nil || g.job == 0 {
		return nil
	}
	g.freeze(false, 0)
	g.kill()
	job := g.job
	g.job = 0
	return windows.CloseHandle(job)
}
