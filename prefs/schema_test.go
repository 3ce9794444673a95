package prefs_test

import (
	"os"
	"testing"

	"github.com/starling-grid/starling/prefs"
)

// TestSchemas compares the schemas in the repository, which editors read, with the keys.
// UPDATE=1 writes them.
func TestSchemas(t *testing.T) {
	for kind, text := range map[string]string{"prefs.toml": prefs.Schema()} {
		file := "../schema/" + kind + ".json"
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s is not up to date (%v); run UPDATE=1 go test ./prefs", file, err)
		}
	}
}
