package validator

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// scripts puts scripts into the bin/ of a project, and returns the validator that runs them by
// the adapter of BOINC's script_validator.
func scripts(t *testing.T, options string, scripts map[string]string) (dir, validator string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed; the adapter of BOINC's scripts is NOT tested")
	}
	adapter, err := filepath.Abs("../../examples/boinc-scripts/validate.py")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir, "exec:python3 " + adapter + " " + options
}

// The scripts of a BOINC project's script_validator decide as they do there.
func TestScriptsOfBOINC(t *testing.T) {
	project := map[string]string{
		"upper":   `[ -z "$(tr -dc a-z <"$1")" ]`,
		"compare": `cmp -s "$1" "$2"`,
		"away":    "exit 3\n",
		"killed":  "kill -9 $$\n",
		"told":    `[ $# = 6 ] && [ -f "$1" ] && [ "$2" -gt 0 ] && [ "$3" = 0.000000 ] && [ -f "$4" ] && [ "$5" != "$2" ] && [ "$6" = 0.000000 ] && [ -x ../bin/told ]`,
	}
	for _, tt := range []struct {
		name, options string
		quorum        int
		outputs       []string
		want          string
		canonical     bool
	}{
		{"equal ones", `--compare_script compare`, 2, []string{"A", "B", "A"}, "ViV", true},
		{"no agreement", `--compare_script compare`, 2, []string{"A", "B"}, "~~", false},
		{"a bad one", `--init_script upper --compare_script compare`, 2, []string{"A", "b", "A"}, "VeV", true},
		{"too few that are good", `--init_script upper --compare_script compare`, 2, []string{"A", "b"}, "~e", false},
		{"a check alone", `--init_script "upper files"`, 1, []string{"A"}, "V", true},
		{"a bad one alone", `--init_script upper`, 1, []string{"a"}, "e", false},
		{"what it is told", `--compare_script "told files result_id runtime files2 result_id2 runtime2"`, 2, []string{"A", "B"}, "VV", true},
		{"a disk that is away for a while", `--init_script away`, 1, []string{"A"}, "?", false},
		{"a comparison that cannot be made now", `--compare_script away`, 2, []string{"A", "A"}, "??", false},
		{"one that is killed", `--init_script killed`, 1, []string{"A"}, "?", false},
		{"no script", ``, 1, []string{"A"}, "?", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, validator := scripts(t, tt.options, project)
			w := newWorld(t, tt.quorum, tt.outputs...)
			w.v.Checker = func(context.Context, int64) (Checker, error) {
				return New(validator, Env{Dir: dir, App: "upper", Files: w.files})
			}
			if got := w.pass(); got != tt.want || (w.wu.CanonicalResultID != 0) != tt.canonical {
				t.Errorf("got %s, want %s; %+v", got, tt.want, w.wu)
			}
			if strings.Contains(tt.want, "?") && !w.wu.TransitionTime.Equal(w.now.Add(again)) {
				t.Errorf("it is asked again at %v", w.wu.TransitionTime)
			}
		})
	}
}

// A late result is compared with the canonical one by the project's scripts too.
func TestScriptsOfBOINCSeeLateResults(t *testing.T) {
	dir, validator := scripts(t, "--init_script good --compare_script equal", map[string]string{"good": `[ "$(cat "$1")" != bad ]`, "equal": `cmp -s "$1" "$2"`})
	w := newWorld(t, 1, "a", "a", "x", "bad")
	w.update(func(tx *store.Tx) error {
		results, err := tx.ResultsOf(w.wu.ID)
		if err != nil {
			return err
		}
		after := results[0]
		after.ValidateState, after.GrantedCredit = store.Valid, 5
		if err := tx.SaveResult(results[0], after); err != nil {
			return err
		}
		return store.Change(tx.Workunit, w.wu.ID, tx.SaveWorkunit, func(done *store.Workunit) {
			done.CanonicalResultID, done.CanonicalCredit = after.ID, 5
		})
	})
	w.v.Checker = func(context.Context, int64) (Checker, error) {
		return New(validator, Env{Dir: dir, App: "upper", Files: w.files})
	}
	if got := w.pass(); got != "VVie" {
		t.Errorf("got %s", got)
	}
}
