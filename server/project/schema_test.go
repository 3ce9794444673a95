package project_test

import (
	"os"
	"testing"

	"github.com/starling-grid/starling/server/project"
)

// TestSchemas compares the schemas in the repository, which editors read, with the keys.
// UPDATE=1 writes them.
func TestSchemas(t *testing.T) {
	for kind, text := range map[string]string{"server.toml": project.Schema()} {
		file := "../../schema/" + kind + ".json"
		if os.Getenv("UPDATE") != "" {
			must(t, os.WriteFile(file, []byte(text), 0o644))
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s is not up to date (%v); run UPDATE=1 go test ./server/project", file, err)
		}
	}
}
