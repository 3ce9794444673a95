//go:build unix

package boincimport_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// device returns an app version for a coprocessor, as BOINC's client and schedulers write it.
func device(kind string) string {
	return "<app_version><app_name>a</app_name><version_num>100</version_num><platform>x86_64-pc-linux-gnu</platform>" +
		"<avg_ncpus>0.250000</avg_ncpus><flops>5e11</flops><plan_class>faked</plan_class><gpu_ram>1048576.000000</gpu_ram>" +
		"<coproc><type>" + kind + "</type><count>0.500000</count></coproc></app_version>"
}

// onDevice returns clientState with the started task on a coprocessor.
func onDevice(kind string) string {
	s := strings.Replace(clientState, "<workunit>", device(kind)+"\n<workunit>", 1)
	return strings.Replace(s, "<name>begun</name><wu_name>w</wu_name>", "<name>begun</name><wu_name>w</wu_name><plan_class>faked</plan_class>", 1)
}

// A task for a coprocessor resumes, with an app version like those that a scheduler sends. The
// report has the remedy for kinds that the agent does not find without a declaration.
func TestImportOfCoprocessorTasks(t *testing.T) {
	for name, c := range map[string]struct {
		kind, toml string
		note       bool
	}{
		"a GPU that is found":        {kind: "NVIDIA"},
		"another kind":               {kind: "miner_asic", note: true},
		"another kind, declared":     {kind: "miner_asic", toml: "[[coproc]]\ntype = \"miner_asic\"\ncount = 1\n"},
		"a GPU by its former name":   {kind: "CUDA"},
		"one kind, another declared": {kind: "miner_asic", toml: "[[coproc]]\ntype = \"other\"\ncount = 1\n", note: true},
	} {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			must(t, os.WriteFile(filepath.Join(to, settings.File), []byte(c.toml), 0o600))
			report, err := boincimport.Import(t.Context(), folder(t, onDevice(c.kind)), to, nil)
			must(t, err)
			if r := report.Projects[0]; r.Begun != 1 {
				t.Errorf("report %+v, want the begun task in it", r)
			}
			want := `1 task for a coprocessor (miner_asic) that the agent does not detect; to have it used, add a [[coproc]] section with type = "miner_asic"`
			if notes := strings.Join(report.Notes, "\n"); strings.Contains(notes, want) != c.note || !c.note && strings.Contains(notes, "coproc") {
				t.Errorf("notes %s, want one on coprocessors: %v", notes, c.note)
			}
			sent, err := protocol.ParseSchedulerReply([]byte("<scheduler_reply>" + device(c.kind) + "</scheduler_reply>"))
			must(t, err)
			db := statetest.Open(t, to)
			r, _ := db.Results.Get(state.Key(url, "begun"))
			v, _ := db.Versions.Get(r.Version)
			if v.Project != url || !reflect.DeepEqual(v.AppVersion, sent.AppVersions[0]) || v.CoprocCount != 0.5 || v.Coproc == "" {
				t.Errorf("version %+v, want %+v", v, sent.AppVersions[0])
			}
			if r.Slot == state.NoSlot || r.Checkpoint.Fraction != 0.5 {
				t.Errorf("result %+v, want it begun", r)
			}
		})
	}
}
