package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBOINCClientStoresFiles has an unmodified BOINC client fetch a file that
// belongs to no task, keep it, upload it and delete it, each because the operator
// says so.
func TestBOINCClientStoresFiles(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	path := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(path, []byte(strings.Repeat("kept\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, ctx, p, "file", "stage", p.Dir, path, "--name", "archive_1")
	serve(t, ctx, p)
	c := startBOINC(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)

	type files struct {
		Files  []struct{ Name string }
		Orders []struct {
			Action   string
			DoneTime time.Time `json:"done_time"`
		}
	}
	await := func(what string, ok func(f files) bool) {
		t.Helper()
		for {
			var f files
			if err := json.Unmarshal([]byte(run(t, ctx, p, "file", "list", p.Dir)), &f); err != nil {
				t.Fatal(err)
			}
			if ok(f) {
				return
			}
			_ = c.try(ctx, "--project", p.URL, "update")
			select {
			case <-ctx.Done():
				t.Fatalf("%s: not done: %+v", what, f)
			case <-time.After(time.Second):
			}
		}
	}
	for {
		if _, err := p.Run(ctx, "host", "show", p.Dir, "1"); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			t.Fatal("the client does not come")
		case <-time.After(200 * time.Millisecond):
		}
	}
	for i, action := range []string{"put", "get", "delete"} {
		run(t, ctx, p, "file", action, p.Dir, "1", "archive_1")
		await(action, func(f files) bool {
			return len(f.Orders) == i+1 && !f.Orders[i].DoneTime.IsZero() && (action == "delete") == (len(f.Files) == 0)
		})
	}
}
