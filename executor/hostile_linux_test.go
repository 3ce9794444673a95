package executor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
)

// hostile makes a shell script the application. $P is the project's folder, seen from the slot.
func hostile(t *testing.T, script string) (*bench, Task) {
	t.Helper()
	b := newBench(t)
	b.put("hostile", "#!/bin/sh\nP=../../projects/example.org_p\n"+script)
	task := b.task()
	task.Program, task.Args = "hostile", nil
	return b, task
}

// ended waits for the end of a run that must not make the agent wait forever.
func (b *bench) ended() Exited {
	b.t.Helper()
	select {
	case ev := <-b.events:
		if e, ok := ev.(Exited); ok {
			return e
		}
		return b.ended()
	case <-b.t.Context().Done():
		b.t.Fatal("the run has no end")
	case <-time.After(testwait.Patience): // a hang must not use up all the time of the tests
		b.t.Fatal("the run has no end")
	}
	return Exited{}
}

// Whatever an application does to the memory that it shares with the agent, and to the files that
// the agent reads, the run ends with a verdict and the slot can be emptied and used again.
func TestWhatTheAgentReads(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"shared memory is cut off":           `: >boinc_mmap_file; sleep 0.2; exit 3`,
		"shared memory is huge":              `truncate -s 4T boinc_mmap_file; sleep 0.2; exit 3`,
		"shared memory is gone":              `rm boinc_mmap_file; mkfifo boinc_mmap_file; sleep 0.1; exit 3`,
		"shared memory is full of messages":  `head -c 8192 /dev/zero | tr '\0' x >boinc_mmap_file; sleep 0.2; exit 3`,
		"finish file is a FIFO":              `mkfifo boinc_finish_called; exit 3`,
		"finish file is a folder":            `mkdir -p boinc_finish_called/a/b; exit 3`,
		"finish file is a device":            `ln -s /dev/zero boinc_finish_called; exit 3`,
		"finish file is huge":                `truncate -s 4T boinc_finish_called; exit 3`,
		"stderr is a FIFO":                   `rm stderr.txt; mkfifo stderr.txt; exit 3`,
		"stderr is huge":                     `truncate -s 4T stderr.txt; exit 3`,
		"temporary exit is a FIFO":           `mkfifo boinc_temporary_exit; exit 3`,
		"temporary exit is huge":             `truncate -s 4T boinc_temporary_exit; exit 3`,
		"state file is a FIFO":               `mkfifo boinc_task_state.xml; exit 3`,
		"a file being written is a FIFO":     `mkfifo starling_part init_data.xml.new; exit 3`,
		"set-up file is a FIFO":              `rm boinc_setup_complete; mkfifo boinc_setup_complete; exit 3`,
		"message is a FIFO":                  `mkfifo trickle_up.xml; exit 3`,
		"message is huge":                    `truncate -s 4T trickle_up.xml; exit 3`,
		"lock is a FIFO":                     `mkfifo boinc_lockfile; exit 3`,
		"output is a FIFO":                   `mkfifo starling_outputs/r_0_0; exit 3`,
		"output is huge":                     `truncate -s 4T starling_outputs/r_0_0; exit 3`,
		"outputs are a FIFO":                 `rmdir starling_outputs; mkfifo starling_outputs; exit 3`,
		"no permissions":                     `mkdir -p a/b; chmod 0 a/b; chmod 0 a; chmod 0 stderr.txt starling_outputs; chmod 0 .; exit 3`,
		"input is a FIFO":                    `rm in; mkfifo in; exit 3`,
		"very many files with special names": `i=0; while [ $i -lt 2000 ]; do : >boinc_ufr_$i; : >trickle_down_$i; i=$((i+1)); done; exit 3`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before, after runtime.MemStats
			b, task := hostile(t, script)
			task.Init.RscDiskBound = 1 << 40
			runtime.ReadMemStats(&before)
			b.start(task)
			// Because of FIFOs and the like, a broken run may look like one that restarts.
			if e := b.ended(); e.Verdict != ComputeError || e.ExitStatus != 3 && !strings.Contains(name, "huge") {
				t.Errorf("got %v, status %d, %.200q", e.Verdict, e.ExitStatus, e.Message)
			}
			// It may be started again in the same slot, as after a restart.
			if err := b.Start(task); err != nil {
				t.Errorf("again: %v", err)
			} else {
				b.ended()
			}
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 256<<20 {
				t.Errorf("the agent has grown by %d MB", grown>>20)
			}
			if err := b.Clear(0); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(filepath.Join(b.data, "slots", "0")); !os.IsNotExist(err) {
				t.Errorf("the slot is still there: %v", err)
			}
			good := b.task("upper")
			b.start(good)
			if e := b.ended(); e.Verdict != Success {
				t.Errorf("the next task in the slot: %.500v", e)
			}
		})
	}
}

// Stop does not depend on the application.
func TestStopsWhileHeldUp(t *testing.T) {
	t.Parallel()
	b, task := hostile(t, `: >boinc_mmap_file; trap '' TERM INT; : >ready; while :; do sleep 1; done`)
	b.start(task)
	b.appears("ready")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Stop(ctx); err != nil {
		t.Error(err)
	}
	if e := b.ended(); e.Verdict != WillRestart {
		t.Errorf("got %.300v", e)
	}
}

// Files count against the disk bound wherever they are written, and only the slot can be written
// to.
func TestDiskBoundHoldsEverywhere(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"in a folder":                `mkdir -p a/b/c; head -c 4000000 /dev/zero >a/b/c/f; sleep 100`,
		"in a folder that is closed": `mkdir -p a; head -c 4000000 /dev/zero >a/f; chmod 0 a; sleep 100`,
		"as an output":               `head -c 4000000 /dev/zero >starling_outputs/r_0_0; sleep 100`,
		"without a name":             `exec 3>f; rm f; head -c 1900000 /dev/zero >&3; exec 4>g; rm g; head -c 1900000 /dev/zero >&4; sleep 100`,
		"in very many files":         `i=0; while [ $i -lt 1000 ]; do echo x >$i; i=$((i+1)); done; sleep 100`,
		"in empty files":             `i=0; while [ $i -lt 1000 ]; do : >$i; i=$((i+1)); done; sleep 100`,
		"in one file":                `head -c 400000000 /dev/zero >f; sleep 100`,
		"in folders without end":     `i=0; while [ $i -lt 1000 ]; do mkdir a; cd a || break; i=$((i+1)); done; sleep 100`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, task := hostile(t, script)
			task.Init.RscDiskBound, b.timing.leave = 3<<20, 100*time.Millisecond // the shell does not read messages
			b.start(task)
			if e := b.ended(); e.Verdict != Aborted || e.ExitStatus != protocol.ExitDiskLimit {
				t.Errorf("got %v, status %d, %.200q", e.Verdict, e.ExitStatus, e.Message)
			}
			if err := b.Clear(0); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("outside", func(t *testing.T) {
		b, task := hostile(t, `
			for d in $P $P/.. ../.. .. /tmp /var/tmp /dev/shm "$HOME/.." /run /home /root; do
				echo x >$d/starling-test && echo "wrote $d" >>leaks
				mkdir $d/starling-test-d && echo "made $d" >>leaks
			done
			echo x >>$P/in_1 && echo input >>leaks
			echo x >>$P/hostile && echo program >>leaks
			mv $P/in_1 $P/in_2 && echo moved >>leaks
			rm -f $P/in_1; ln $P/in_1 linked && echo linked >>leaks
			exit 3`)
		b.start(task)
		if e := b.ended(); e.ExitStatus != 3 {
			t.Errorf("got %.300v", e)
		}
		if leaks := b.read(b.slotFile("leaks")); leaks != "absent" {
			t.Error(leaks)
		}
		if got := b.read(filepath.Join(b.project, "in_1")); got != "hello" {
			t.Errorf("the input is %q", got)
		}
	})
}

// Endlessly nested folders block neither the run nor the agent.
func TestNestedFolders(t *testing.T) {
	t.Parallel()
	b, task := hostile(t, `
		mkdir -p starling_outputs; i=0
		while [ $i -lt 5000 ]; do mkdir d && cd d || break; : >f; i=$((i+1)); done
		exit 3`)
	b.start(task)
	if e := b.ended(); e.ExitStatus != 3 && e.ExitStatus != protocol.ExitDiskLimit {
		t.Errorf("got %v, status %d, %.200q", e.Verdict, e.ExitStatus, e.Message)
	}
	if err := b.Clear(0); err != nil {
		t.Error(err)
	}
}

// A process that forks, leaves the session and clears its environment is ended with its task, and
// no zombie is left.
func TestNobodyGetsAway(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"with the task":   `%s; exit 3`,
		"before its end":  `%s; sleep 1; exit 3`,
		"when it is told": `%s; echo >ready; trap '' TERM; while :; do sleep 1; done`,
	} {
		t.Run(name, func(t *testing.T) {
			const away = `(setsid env -i sh -c 'cd /; (trap "" TERM INT HUP; exec sleep 1000) & echo $! >$0/new; mv $0/new $0/away' "$PWD" & ); while [ ! -e away ]; do :; done`
			b, task := hostile(t, strings.Replace(script, "%s", away, 1))
			b.timing.leave = time.Millisecond // the shell does not read messages
			b.start(task)
			b.appears("away")
			if strings.Contains(script, "ready") {
				b.appears("ready")
				_ = b.Abort("r_0", 1, "enough")
			}
			b.ended()
			pid, err := strconv.Atoi(strings.TrimSpace(b.read(b.slotFile("away"))))
			must(t, err)
			gone(t, pid)
			b.tree.look(true) // reaps
			if err := syscall.Kill(pid, 0); err == nil {
				if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), " Z "+strconv.Itoa(os.Getpid())+" ") {
					t.Error("nobody has waited for it")
				}
			}
		})
	}
}

// The next agent ends the processes that a killed agent left behind.
func TestTheNextAgentFindsThemToo(t *testing.T) {
	t.Parallel()
	b, task := hostile(t, `(setsid env -i sh -c 'cd /; echo $$ >$0/new; mv $0/new $0/away; exec sleep 1000' "$PWD" &); sleep 1000`)
	b.start(task)
	b.appears("away")
	pid, err := strconv.Atoi(strings.TrimSpace(b.read(b.slotFile("away"))))
	must(t, err)
	if m := sandbox.Marked(pid); m != b.mark(0) {
		t.Errorf("the mark is %d, want %d", m, b.mark(0))
	}
	next := *b // without the knowledge of the previous one
	next.restart()
	if err := next.KillLeftovers(t.Context()); err != nil {
		t.Error(err)
	}
	gone(t, pid)
	b.ended()
}

// The tasks of an agent that runs as root run as users without rights, each different from the
// others.
func TestTasksOfRootAreOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root's agent has others run its tasks")
	}
	b, task := hostile(t, `
		id -u >uid
		cp /bin/bash b && chmod u+s b && ./b -p -c 'test $EUID = 0' && echo root >>leaks
		ls /etc/ssl/private >/dev/null && echo private >>leaks
		cat ../1/init_data.xml && echo other >>leaks
		grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo capabilities >>leaks
		chmod 777 ../../state.db $P $P/in_1 && echo permissions >>leaks
		: >ready
		exit 3`)
	must(t, os.WriteFile(filepath.Join(b.data, "state.db"), nil, 0o600))
	must(t, os.MkdirAll(filepath.Join(b.data, "slots", "1"), 0o700))
	must(t, os.WriteFile(filepath.Join(b.data, "slots", "1", "init_data.xml"), nil, 0o644))
	b.start(task)
	if e := b.ended(); e.ExitStatus != 3 {
		t.Errorf("got %.300v", e)
	}
	if leaks := b.read(b.slotFile("leaks")); leaks != "absent" {
		t.Error(leaks)
	}
	want, err := b.taskUser(0)
	if err != nil || want == 0 || strings.TrimSpace(b.read(b.slotFile("uid"))) != strconv.Itoa(want) {
		t.Errorf("it was user %s, want %d, %v", b.read(b.slotFile("uid")), want, err)
	}
}
