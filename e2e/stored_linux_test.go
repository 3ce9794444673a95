package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
)

// An order is an entry in the output of file list.
type order struct {
	HostID   int64 `json:"host_id"`
	Name     string
	DoneTime time.Time `json:"done_time"`
	Failed   string
}

// TestStoredFilesAndHostsThatLackRoomOrLeave starts a chain on an agent that is detached in the
// middle of it, and ends it on a BOINC client. An agent whose disk is nearly full does not get any
// of the chain, and reports why it does not store a large file that the others do.
func TestStoredFilesAndHostsThatLackRoomOrLeave(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "64m")
	ctx := patience(t)
	const links = 6
	p := chainProject(t, ctx, links)
	large := filepath.Join(t.TempDir(), "large")
	must(t, os.WriteFile(large, bytes.Repeat([]byte("starling\n"), 30<<20/9), 0o600))
	run(t, ctx, p, "file", "stage", p.Dir, large, "--name", "large_1")
	serve(t, ctx, p)
	must(t, os.WriteFile(filepath.Join(disk, "other"), make([]byte, 40<<20), 0o600))
	full := newAgentIn(t, disk)
	startAgent(t, ctx, full, p)
	awaitHost(t, ctx, p, 1)
	leaver := newMortal(t, "leaver")
	startAgent(t, ctx, leaver, p)
	awaitHost(t, ctx, p, 2)
	updates := []func(){
		func() { _, _ = full.Run(ctx, "update", p.URL) },
		func() { _, _ = leaver.Run(ctx, "update", p.URL) },
	}
	until := func(what string, reached func() bool) {
		t.Helper()
		testwait.Try(t, ctx, what, func() error {
			if reached() {
				return nil
			}
			for _, update := range updates {
				update()
			}
			return errors.New("not yet")
		})
	}
	store := func(host int64) (was order) {
		t.Helper()
		run(t, ctx, p, "file", "put", p.Dir, fmt.Sprint(host), "large_1")
		until(fmt.Sprintf("host %d to follow its order or say why not", host), func() bool {
			was = lastOrder(t, ctx, p, host)
			return !was.DoneTime.IsZero() || was.Failed != ""
		})
		return was
	}
	if was := store(1); !was.DoneTime.IsZero() || !strings.Contains(was.Failed, "allows the project to store (-131)") {
		t.Errorf("the order for the host with a full disk: %+v", was)
	}
	if was := store(2); was.DoneTime.IsZero() {
		t.Errorf("the order for a host with room: %+v", was)
	}
	var by []int64
	until("the first link", func() bool {
		by = chainHosts(t, ctx, p, by, links)
		return len(by) > 0
	})
	stored := filepath.Join(leaver.Dir, "projects", protocol.EscapeURL(p.URL))
	if _, err := os.Stat(filepath.Join(stored, "large_1")); err != nil {
		t.Error(err)
	}
	if _, err := leaver.Run(ctx, "detach", "--now", p.URL); err != nil {
		t.Fatal(err)
	}
	c := startBOINC(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	awaitHost(t, ctx, p, 3)
	updates[1] = func() { _ = c.try(ctx, "--project", p.URL, "update") }
	if was := store(3); was.DoneTime.IsZero() {
		t.Errorf("the order for BOINC's client: %+v", was)
	}
	until("the whole chain", func() bool {
		by = chainHosts(t, ctx, p, by, links)
		return len(by) == links
	})
	for i, host := range by {
		if host == 1 || i > 0 && host < by[i-1] {
			t.Errorf("the links were computed by hosts %v", by)
			break
		}
	}
	if by[0] != 2 {
		t.Errorf("the first link was computed by host %d", by[0])
	}
	until("nothing to be left of the detached project", func() bool {
		_, err := os.Stat(stored)
		return os.IsNotExist(err)
	})
}

// lastOrder returns the newest order for a host.
func lastOrder(t *testing.T, ctx context.Context, p *testhost.Project, host int64) (last order) {
	t.Helper()
	var f struct{ Orders []order }
	must(t, json.Unmarshal([]byte(run(t, ctx, p, "file", "list", p.Dir, "--json")), &f))
	for _, o := range f.Orders {
		if o.HostID == host {
			last = o
		}
	}
	return last
}
