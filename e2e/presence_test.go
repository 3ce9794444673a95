//go:build linux

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbus"
)

// TestTheComputerComesFirst checks that a whole agent stops its task while the CPU is too hot and
// while a program wants the whole computer, does not use the network while it is metered, and
// resumes afterwards. Only the sensor's files and NetworkManager are simulated.
func TestTheComputerComesFirst(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	sys, game := t.TempDir(), filepath.Join(t.TempDir(), "starling-game")
	put := func(name, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must(t, os.WriteFile(name, []byte(text), 0o700))
	}
	heat := func(milli string) { put(filepath.Join(sys, "class/hwmon/hwmon0/temp1_input"), milli+"\n") }
	put(filepath.Join(sys, "class/hwmon/hwmon0/name"), "coretemp\n")
	heat("95000")
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	put(game, string(sleep))
	bus := testbus.Start(t)
	meter := bus.Properties("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", map[string]any{"Metered": uint32(2)})

	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	a := configured(t, "a", "cpu_usage_limit = 10\nmax_cpu_temperature = 80\nnetwork_wifi_only = true\n",
		"ncpus = 1\nexclusive_apps = [\"starling-game\"]\n")
	a.Env = []string{"HOST_SYS=" + sys, "DBUS_SYSTEM_BUS_ADDRESS=" + bus.Address}
	startAgent(t, ctx, a, p)
	runs := func(s control.Status) bool { return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].PID > 0 }
	stopped := func(why string) func(control.Status) bool {
		return func(s control.Status) bool {
			return len(s.Tasks) == 1 && !s.Tasks[0].Running && strings.Contains(s.Compute, why)
		}
	}
	await(t, ctx, a, "the heat to stop it", stopped("95 °C, above the limit of 80 °C (max_cpu_temperature)"))
	heat("40000")
	await(t, ctx, a, "it to run", runs)
	play := exec.CommandContext(ctx, game, "1000")
	must(t, play.Start())
	meter("Metered", uint32(1))
	await(t, ctx, a, "the game to stop it", stopped("starling-game is running (exclusive_apps in starling.toml)"))
	_ = play.Process.Kill()
	_ = play.Wait()
	await(t, ctx, a, "it to run in spite of the metered network", func(s control.Status) bool {
		return runs(s) && strings.Contains(s.Network, "metered (network_wifi_only)")
	})
	meter("Metered", uint32(2))
	await(t, ctx, a, "the network to be used", func(s control.Status) bool { return s.Network == "" && runs(s) })
}
