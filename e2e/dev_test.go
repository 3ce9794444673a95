package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestDevProject makes BOINC's client compute for a project that was created by one command.
func TestDevProject(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	port := freePort(t)
	dir, log := filepath.Join(t.TempDir(), "project"), filepath.Join(t.TempDir(), "dev.log")
	addr := fmt.Sprint("127.0.0.1:", port)
	server, err := testhost.Start(log, bin.Path("starling-server"), "dev", "--listen", addr, "--dir", dir, "--fault", "slow=20ms")
	must(t, err)
	t.Cleanup(func() {
		if err := server.Stop(testhost.Grace); err != nil {
			t.Error(err)
		}
		showLog(t, log)
	})
	c := startBOINC(t, ctx)
	testwait.Try(t, ctx, "BOINC's client to attach", func() error {
		return c.try(ctx, "--project_attach", "http://"+addr+"/dev/", "0123456789abcdef0123456789abcdef")
	})
	testwait.Try(t, ctx, "three results", func() error {
		text, err := bin.Run(ctx, nil, "starling-server", "status", dir, "--json")
		if err != nil {
			return err
		}
		var st struct{ Workunits struct{ Canonical int } }
		must(t, json.Unmarshal([]byte(text), &st))
		if n := st.Workunits.Canonical; n < 3 {
			return fmt.Errorf("%d are valid", n)
		}
		return nil
	})
}
