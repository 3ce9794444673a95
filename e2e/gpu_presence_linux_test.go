package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
)

// TestTheGPUsAreFree has a whole agent stop its task for coprocessors, and not the one for
// the CPUs, while a program wants the GPUs for itself, and go on afterwards.
func TestTheGPUsAreFree(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	game := filepath.Join(t.TempDir(), "starling-game")
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(game, sleep, 0o700); err != nil {
		t.Fatal(err)
	}
	p := restingProject(t, ctx, "long", 1000, 2, "", "faked")
	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), "a"), "run_gpu_if_user_active = true\n",
		"ncpus = 1\nexclusive_gpu_apps = [\"starling-game\"]\n[[coproc]]\ntype = \"fake\"\ncount = 1\npeak_flops = 4e9\n")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, a) })
	startAgent(t, ctx, a, p)
	tasks := func(onDevice string) func(control.Status) bool { // one runs on the CPU, and the other …
		return func(s control.Status) bool {
			onCPU, other := false, false
			for _, task := range s.Tasks {
				running := task.Running && task.PID > 0
				switch {
				case task.Resources == "":
					onCPU = running
				case onDevice == "":
					other = running
				default:
					other = !running && strings.Contains(task.Why, onDevice)
				}
			}
			return onCPU && other
		}
	}
	await(t, ctx, a, "both tasks to run", tasks(""))
	play := exec.CommandContext(ctx, game, "1000")
	if err := play.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, a, "the game to stop one", tasks("starling-game is running (exclusive_gpu_apps in starling.toml)"))
	_ = play.Process.Kill()
	_ = play.Wait()
	await(t, ctx, a, "both tasks to run again", tasks(""))
}
