package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
)

// TestBOINCClientStoresFiles makes an unmodified BOINC client fetch a file that belongs to no task,
// keep it, upload it and delete it, each on the operator's order.
func TestBOINCClientStoresFiles(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	archive(t, ctx, p)
	serve(t, ctx, p)
	c := startBOINC(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	update := func() { _ = c.try(ctx, "--project", p.URL, "update") }
	for _, action := range []string{"put", "get", "delete"} {
		orderFile(t, ctx, p, action, update)
	}
}

// TestAgentStoresFiles makes Starling's agent do the same, and checks what the volunteer sees.
func TestAgentStoresFiles(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	text := archive(t, ctx, p)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	update := func() { _, _ = a.Run(ctx, "update", p.URL) }
	path := filepath.Join(a.Dir, "projects", protocol.EscapeURL(p.URL), "archive_1")
	orderFile(t, ctx, p, "put", update)
	if b, err := os.ReadFile(path); err != nil || string(b) != text {
		t.Fatalf("stored: %d bytes, %v", len(b), err)
	}
	if out, err := a.Run(ctx, "projects"); err != nil || !strings.Contains(out, "1 file, 4.9 KB") {
		t.Errorf("projects: %v\n%s", err, out)
	}
	orderFile(t, ctx, p, "get", update)
	if b, err := os.ReadFile(filepath.Join(p.Dir, "upload", protocol.DirHash("archive_1", 1024), "archive_1")); err != nil || string(b) != text {
		t.Errorf("uploaded: %d bytes, %v", len(b), err)
	}
	orderFile(t, ctx, p, "delete", update)
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is still here")
	}
	await(t, ctx, a, "nothing to be stored", func(s control.Status) bool { return s.Projects[0].Storage.Files == 0 })
}

// archive makes a file that hosts can be ordered to fetch, and returns its text.
func archive(t *testing.T, ctx context.Context, p *testhost.Project) string {
	t.Helper()
	text := strings.Repeat("kept\n", 1000)
	path := filepath.Join(t.TempDir(), "archive")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	run(t, ctx, p, "file", "stage", p.Dir, path, "--name", "archive_1")
	return text
}

// orderFile orders the only host to do something with the archive, and waits until the server has
// recorded that it did. update makes the host contact the project.
func orderFile(t *testing.T, ctx context.Context, p *testhost.Project, action string, update func()) {
	t.Helper()
	awaitHost(t, ctx, p, 1)
	run(t, ctx, p, "file", action, p.Dir, "1", "archive_1")
	testwait.Try(t, ctx, action, func() error {
		var f struct {
			Files  []struct{ Name string }
			Orders []struct {
				Action   string
				DoneTime time.Time `json:"done_time"`
			}
		}
		must(t, json.Unmarshal([]byte(run(t, ctx, p, "file", "list", p.Dir, "--json")), &f))
		if n := len(f.Orders); n > 0 && f.Orders[n-1].Action == action && !f.Orders[n-1].DoneTime.IsZero() && (action == "delete") == (len(f.Files) == 0) {
			return nil
		}
		update()
		return fmt.Errorf("not done: %+v", f)
	})
}
