package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// ask sends a request of the world's user from a new host.
func (w *world) ask(change func(r *protocol.SchedulerRequest)) *protocol.SchedulerReply {
	w.t.Helper()
	r := protocol.SchedulerRequest{
		Authenticator: w.User.Authenticator, Client: protocol.Version{Major: 7, Minor: 20, Release: 5},
		Platform: "x86_64-pc-linux-gnu", Host: protocol.HostInfo{DomainName: "h", HostCPID: "h", NCPUs: 1, Fpops: 1e9},
	}
	change(&r)
	return w.send(r.Encode())
}

func TestPreferences(t *testing.T) {
	prefs := func(at time.Time, what string) string {
		if what == "" {
			return ""
		}
		return fmt.Sprintf("\n<source_project>x</source_project>\n<mod_time>%d</mod_time>\n<what>%s</what>\n", at.Unix(), what)
	}
	day := 24 * time.Hour
	for _, tt := range []struct {
		name                           string
		ours, stored, working          string // "" none
		oursAge, storedAge, workingAge time.Duration
		stranger                       bool
		kept                           string // the account's preferences afterwards
		sent                           bool
	}{
		{name: "nobody has any"},
		{name: "the account's go to a host that has none", ours: "a", oursAge: day, kept: "a", sent: true},
		{name: "newer ones of the host are kept", ours: "a", oursAge: day, stored: "h", kept: "h"},
		{name: "the host's are kept if the account has none", stored: "h", storedAge: day, kept: "h"},
		{name: "older ones of the host are replaced", ours: "a", stored: "h", storedAge: day, kept: "a", sent: true},
		{name: "equally old ones stay", ours: "a", stored: "h", kept: "a"},
		{name: "those of another account are not kept", ours: "a", oursAge: day, stored: "h", stranger: true, kept: "a"},
		{name: "older ones of another account are replaced", ours: "a", stored: "h", storedAge: day, stranger: true, kept: "a", sent: true},
		{name: "newer ones in force stay", ours: "a", oursAge: day, working: "h", kept: "a"},
		{name: "older ones in force do not", ours: "a", working: "h", workingAge: day, kept: "a", sent: true},
		{name: "those from the future are not kept", ours: "a", oursAge: day, stored: "h", storedAge: -2 * day, kept: "a"},
		{name: "a clock may be a little fast", ours: "a", oursAge: day, stored: "h", storedAge: -time.Hour, kept: "h"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			ours := prefs(w.now.Add(-tt.oursAge), tt.ours)
			w.update(func(tx *store.Tx) error { return tx.SetGlobalPrefs(w.User.ID, "", ours) })
			reply := w.ask(func(r *protocol.SchedulerRequest) {
				r.GlobalPrefs, r.WorkingPrefs = prefs(w.now.Add(-tt.storedAge), tt.stored), prefs(w.now.Add(-tt.workingAge), tt.working)
				r.PrefsEmailHash = protocol.EmailHash(w.User.EmailAddr)
				if tt.stranger {
					r.PrefsEmailHash = protocol.EmailHash("b@example.org")
				}
			})
			kept := ""
			w.update(func(tx *store.Tx) error {
				u, err := tx.User(w.User.ID)
				kept = u.GlobalPrefs
				return err
			})
			if tt.kept == "" && kept != "" || !strings.Contains(kept, "<what>"+tt.kept) && tt.kept != "" {
				t.Errorf("the account has %q, want %q", kept, tt.kept)
			}
			if got := strings.Contains(reply.GlobalPrefs, "<what>a</what>"); got != tt.sent {
				t.Errorf("sent %q, want any: %v", reply.GlobalPrefs, tt.sent)
			}
		})
	}
}

func TestOldClientsGetNoWork(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	w.s.Config.MinCoreVersion = "7.20.6"
	ask := func() *protocol.SchedulerReply {
		return w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1 })
	}
	got := ask()
	if want := "notice: This project needs BOINC 7.20.6 or newer, and this computer runs 7.20.5. To get tasks, install a newer version."; texts(got) != want ||
		len(got.Results) != 0 || got.RequestDelay != 24*time.Hour {
		t.Errorf("%d results, delay %v, %s", len(got.Results), got.RequestDelay, texts(got))
	}
	w.s.Config.MinCoreVersion = "7.20.5"
	if got := ask(); len(got.Results) != 1 {
		t.Errorf("%d results, %s", len(got.Results), texts(got))
	}
}
