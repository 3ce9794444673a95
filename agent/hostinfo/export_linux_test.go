package hostinfo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/prefs"
)

// AskIdle is for tests.
var AskIdle = askIdle

// ForgetFailures makes sources that failed be asked again.
func ForgetFailures() {
	own.Retry()
	for _, s := range sources {
		s.failed = s.failed.AddDate(-1, 0, 0)
	}
}

// ForgetIdle forgets that logind has called the computer idle.
func ForgetIdle() { everIdle = false }

// PowerSupplies returns the result of powerSupplies for such files.
func PowerSupplies(t *testing.T, supplies map[string]map[string]string) prefs.Sense {
	dir := t.TempDir()
	for name, files := range supplies {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return powerSupplies(dir)
}
