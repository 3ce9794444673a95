package executor

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
)

// A look at this process's descendants finds the same processes as a look at all processes,
// including orphans that have left their session.
func TestDescendants(t *testing.T) {
	if err := adoptOrphans(); err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "(setsid sh -c 'sleep 1000 & echo; wait' &); sleep 1000 & wait")
	out, err := cmd.StdoutPipe()
	must(t, err)
	ownGroup(cmd)
	must(t, cmd.Start())
	t.Cleanup(func() {
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait()
		all := make(family)
		everyProcess(all, make(map[int]relative))
		for pid := range all.relatives(os.Getpid(), nil) {
			kill(pid)
		}
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if !descendants(os.Getpid(), make(family), make(map[int]relative), 0) {
		t.Skip("this kernel does not list children (CONFIG_PROC_CHILDREN)")
	}
	testwait.Until(t, "both ways find the same processes, once the shell between them has gone", func() bool {
		found, zombies, all := make(family), make(map[int]relative), make(family)
		descendants(os.Getpid(), found, zombies, 0)
		everyProcess(all, zombies)
		want := slices.Sorted(maps.Keys(all.relatives(os.Getpid(), nil)))
		got := slices.Sorted(maps.Keys(found))
		t.Logf("found %v, want %v", got, want)
		return slices.Equal(got, want) && len(got) >= 4
	})
}
