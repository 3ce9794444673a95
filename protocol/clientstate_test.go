package protocol_test

import (
	"os"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// recordedState was written by Debian's client 7.20.5 while it was running tasks.
const recordedState = "testdata/captures/app/data-dir/client_state.xml"

func TestParseClientState(t *testing.T) {
	b, err := os.ReadFile(recordedState)
	must(t, err)
	f, err := protocol.ParseClientState(b)
	must(t, err)
	if len(f.Projects) != 1 || f.Host.NCPUs < 1 || f.Host.Fpops <= 0 || f.Times.OnFrac <= 0 {
		t.Fatalf("got %d projects on %+v", len(f.Projects), f.Host)
	}
	p := f.Projects[0]
	if p.MasterURL != "http://127.0.0.1:8090/proj/" || p.HostID != 42 || p.UserID != 7 || p.RPCSeqno != 1 ||
		len(p.SchedulerURLs) != 1 || p.UserTotalCredit != 12.5 || p.ResourceShare != 100 || !p.Anonymous {
		t.Errorf("project %+v", p)
	}
	if len(p.Apps) != 2 || len(p.AppVersions) == 0 || len(p.Workunits) == 0 || len(p.Files) < 8 || len(p.Held) == 0 || len(p.Results) != 0 {
		t.Errorf("%d apps, %d versions, %d workunits, %d files, %d results", len(p.Apps), len(p.AppVersions), len(p.Workunits), len(p.Files), len(p.Held))
	}
	for _, r := range p.Held {
		if r.Name == "" || r.WorkunitName == "" || r.ReportDeadline.IsZero() || r.Received.IsZero() || time.Until(r.Received) > 0 && r.Received.Year() < 2000 {
			t.Errorf("result %+v", r)
		}
	}
}

func FuzzParseClientState(f *testing.F) {
	if b, err := os.ReadFile(recordedState); err == nil {
		f.Add(b)
	}
	f.Add([]byte("<client_state><project><master_url>http://a/</master_url></project><result><name>r</name></result></client_state>"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = protocol.ParseClientState(b)
	})
}
