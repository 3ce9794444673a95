package settings_test

import (
	"os"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
)

// TestSchemas compares the schemas in the repository, which editors read, with the keys.
// UPDATE=1 writes them.
func TestSchemas(t *testing.T) {
	for kind, text := range map[string]string{settings.File: settings.Schema(), "account.toml": settings.AccountSchema()} {
		file := "../../schema/" + kind + ".json"
		if os.Getenv("UPDATE") != "" {
			must(t, os.WriteFile(file, []byte(text), 0o644))
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s is not up to date (%v); run UPDATE=1 go test ./agent/settings", file, err)
		}
	}
}
