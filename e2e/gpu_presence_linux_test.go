package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

// TestTheGPUsAreFree checks that a whole agent stops its task on coprocessors, but not the one on
// the CPUs, while a program wants the GPUs and while one is too hot. Only the sensor's files are
// simulated.
func TestTheGPUsAreFree(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	game := filepath.Join(t.TempDir(), "starling-game")
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	must(t, os.WriteFile(game, sleep, 0o700))
	sys := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(sys, "bus/pci/devices/0000:03:00.0", name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	}
	put("vendor", "0x1002")
	put("class", "0x030000")
	put("gpu_busy_percent", "97")
	put("hwmon/hwmon2/temp1_input", "60000")
	p := restingProject(t, ctx, "long", 1000, 2, "", "radeon")
	a := configured(t, "a", "max_gpu_temperature = 80\n",
		"ncpus = 1\nexclusive_gpu_apps = [\"starling-game\"]\n[[coproc]]\ntype = \"ATI\"\ncount = 1\npeak_flops = 4e9\n")
	a.Env = []string{"HOST_SYS=" + sys}
	startAgent(t, ctx, a, p)
	tasks := func(onDevice string) func(control.Status) bool { // one task runs on the CPU, and the other …
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
	must(t, play.Start())
	await(t, ctx, a, "the game to stop one", tasks("starling-game is running (exclusive_gpu_apps in starling.toml)"))
	_ = play.Process.Kill()
	_ = play.Wait()
	await(t, ctx, a, "both tasks to run again", tasks(""))
	put("hwmon/hwmon2/temp1_input", "99000") // cooling is tested in agent/usage, in simulated time
	await(t, ctx, a, "the heat to stop one", tasks("GPUs are not used: one was at 99 °C in the last 2 minutes, above the limit of 80 °C (max_gpu_temperature)"))
	if out, err := a.Run(ctx, "status"); err != nil || !strings.Contains(out, "AMD GPU 0 is at 99 °C, 97% busy.") {
		t.Errorf("status: %s, %v", out, err)
	}
}
