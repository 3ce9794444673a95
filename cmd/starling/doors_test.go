package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/settings"
)

// harmless are the settings that open nothing to others: no socket, port, file, server or program.
const harmless = `log_level log_max_mb log_keep ncpus cpus allow_multiple_clients no_priority_change
	report_results_immediately max_file_xfers max_file_xfers_per_project device_name venue use_all_gpus
	coproc.type coproc.count coproc.peak_flops coproc.device_nums ignore_gpu.type ignore_gpu.device_nums
	power.name power.value power.forecast power.forecast_time power.forecast_value power.unit power.limit power.above power.hysteresis power.every power.only_gpus
	power.strict watts_per_cpu watts_per_gpu share_energy desktop_notifications tray_icon log_flags`

// askers are the commands that only ask the agent, or print a text.
const askers = `allowmorework detach doctor help history log manager|leave manager|status manager|sync mode
	nomorework notices prefs|check prefs|reference prefs|set prefs|show prefs|unset projects reference
	reset resume run share status suspend task tasks transfers undo update why completion docs`

// The handbook has a row for each command and each setting that opens the agent to others.
func TestTheHandbookListsTheDoors(t *testing.T) {
	const name = "../../docs/security-tests.md"
	text, err := os.ReadFile(name)
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "<!-- doors -->\n")
	table, _, ok := strings.Cut(rest, "<!-- end -->")
	if !ok {
		t.Fatalf("%s has no table of doors", name)
	}
	listed := make(map[string]bool)
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		for i, word := range strings.Split(cells[0], "`") {
			if i%2 == 1 {
				listed[word] = true
			}
		}
		if strings.Contains(line, "`") && !strings.Contains(cells[len(cells)-1], "`Test") {
			t.Errorf("%s: the row %.60s has no test", name, line)
		}
	}
	known := make(map[string]bool)
	check := func(kind, door string, harmless bool) {
		known[door] = true
		switch {
		case listed[door] && harmless:
			t.Errorf("the %s %s is in the table and in the list of this test", kind, door)
		case !listed[door] && !harmless:
			t.Errorf("the %s %s is new: add a row to %s with its reach, limits, refusal and test, or add it to the list in this test if it opens nothing to others", kind, door, name)
		}
	}
	for _, key := range keysOf(reflect.TypeFor[settings.Settings](), "") {
		check("setting", key, slices.Contains(strings.Fields(harmless), key))
	}
	all := commandsOf(commands(new(options)), nil)
	for _, path := range all {
		command := "starling " + strings.Join(path, " ")
		if len(path) > 1 && listed["starling "+path[0]] {
			known[command] = true // the row is for all of them
			continue
		}
		check("command", command, slices.Contains(strings.Fields(askers), strings.Join(path, "|")) || slices.Contains(strings.Fields(askers), path[0]))
	}
	for door := range listed {
		parent := slices.ContainsFunc(all, func(path []string) bool { return door == "starling "+path[0] })
		if !known[door] && !parent && !strings.HasSuffix(door, ".sock") {
			t.Errorf("%s has a row for %s, which does not exist", name, door)
		}
	}
}

// keysOf returns the keys of a file, with the names of their sections.
func keysOf(t reflect.Type, section string) (keys []string) {
	for f := range t.Fields() {
		key := section + f.Tag.Get("toml")
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			keys = append(keys, keysOf(f.Type.Elem(), key+".")...)
			continue
		}
		keys = append(keys, key)
	}
	return keys
}

// commandsOf returns the paths of all commands that do something.
func commandsOf(c *cobra.Command, above []string) (all [][]string) {
	for _, sub := range c.Commands() {
		path := append(slices.Clone(above), sub.Name())
		if sub.HasSubCommands() {
			all = append(all, commandsOf(sub, path)...)
			continue
		}
		all = append(all, path)
	}
	return all
}
