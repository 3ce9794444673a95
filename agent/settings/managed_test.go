package settings_test

import (
	"testing"

	"github.com/starling-grid/starling/agent/settings"
)

// TestTheLastWordHolds checks that the latest change of an account wins, whether it came from the
// volunteer's file, an account manager or a tool.
func TestTheLastWordHolds(t *testing.T) {
	dir, url := t.TempDir(), "http://p.example/"
	must(t, settings.WriteAccount(dir, settings.Account{MasterURL: url, Authenticator: "1_a", ResourceShare: 100}))
	yes, no, share, more := true, false, 30.0, 40.0
	change := func(f func(*settings.Override)) settings.Account {
		t.Helper()
		must(t, settings.ChangeAccount(dir, url, f))
		all, _, err := settings.LoadAccounts(dir)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	manage := func(m settings.Managed) settings.Account {
		m.URL = "http://am.example/"
		return change(func(o *settings.Override) { o.Manage(m) })
	}
	if a := manage(settings.Managed{Attached: true, Authenticator: "1_b", ResourceShare: &share, Suspended: &yes}); a.ResourceShare != 30 || !a.Suspended || a.Authenticator != "1_b" || a.Manager == nil {
		t.Errorf("as the manager says: %+v", a)
	}
	if a := change(func(o *settings.Override) { o.Suspended = &no }); a.Suspended {
		t.Error("resumed by a tool, and suspended all the same")
	}
	if a := manage(settings.Managed{ResourceShare: &more, Suspended: &yes}); a.Suspended || a.ResourceShare != 40 || a.Authenticator != "1_b" || !a.Manager.Attached {
		t.Errorf("the manager says of suspending what it said before: %+v", a)
	}
	if a := manage(settings.Managed{Suspended: &no}); a.ResourceShare != 100 {
		t.Errorf("share %v; want the file's, since the manager says nothing", a.ResourceShare)
	}
	if a := manage(settings.Managed{Suspended: &yes, NoMoreWork: &yes, DetachWhenDone: true}); !a.Suspended || !a.NoMoreWork || !a.Manager.DetachWhenDone {
		t.Errorf("the manager changed its mind: %+v", a)
	}
	if a := change(func(o *settings.Override) { o.Manager = nil }); a.Suspended || a.NoMoreWork || a.Manager != nil || a.Authenticator != "1_a" {
		t.Errorf("without the manager: %+v", a)
	}
}
