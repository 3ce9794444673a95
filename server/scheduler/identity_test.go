package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

func TestFirstContact(t *testing.T) {
	w := newWorld(t)
	w.addWork("tt_1117", 1)
	w.addWork("tt_1118", 1)
	got := w.first()
	switch {
	case got.HostID == 0:
		t.Error("no host id")
	case got.SchedulerVersion != 803 || !got.DontUseDCF || got.MasterURL != "http://127.0.0.1:8180/bench/" || got.ProjectName != "Bench":
		t.Errorf("head: %+v", got)
	case got.User == nil || got.User.Name != "Ada" || got.User.EmailHash != protocol.EmailHash("a@example.org"):
		t.Errorf("user: %+v", got.User)
	case got.CodeSignKey == "" || got.CodeSignKeySignature != "":
		t.Errorf("key %q, signature %q", got.CodeSignKey, got.CodeSignKeySignature)
	case got.Host.Venue == nil || *got.Host.Venue != "":
		t.Error("the client is not told that it is at no venue")
	case got.RequestDelay <= 0:
		t.Error("no request_delay")
	case len(got.Apps) != 1 || len(got.AppVersions) != 1 || len(got.Workunits) != 2:
		t.Errorf("%d apps, %d versions, %d workunits", len(got.Apps), len(got.AppVersions), len(got.Workunits))
	}
	if want := []string{"tt_1117_0", "tt_1118_0"}; !slices.Equal(names(got.Results, resultName), want) {
		t.Errorf("got %v, want %v", names(got.Results, resultName), want)
	}
	files := make(map[string]protocol.FileInfo)
	for _, f := range got.Files {
		if _, twice := files[f.Name]; twice {
			t.Errorf("file %s is named twice", f.Name)
		}
		files[f.Name] = f
	}
	in := files["in_1"]
	if want := "http://127.0.0.1:8180/bench/download/" + protocol.DirHash("in_1", 1024) + "/in_1"; len(in.DownloadURLs) != 1 || in.DownloadURLs[0] != want {
		t.Errorf("got %v, want %s", in.DownloadURLs, want)
	}
	out := files["tt_1117_0_r5_0"]
	if len(out.UploadURLs) != 1 || out.MaxNBytes != 99 || out.XMLSignature == "" {
		t.Errorf("output file: %+v", out)
	}
	r := got.Results[0]
	if !r.ReportDeadline.Equal(w.now.Add(time.Hour)) || r.Platform != "x86_64-pc-linux-gnu" || r.VersionNum != 100 {
		t.Errorf("result: %+v", r)
	}
	if db := w.result("tt_1117_0"); db.ServerState != store.InProgress || db.HostID != got.HostID || !db.ReportDeadline.Equal(r.ReportDeadline) {
		t.Errorf("in the database: %+v", db)
	}
}

func TestWhoIsIt(t *testing.T) {
	w := newWorld(t)
	host := w.first().HostID
	t.Run("a known host is not told its id again", func(t *testing.T) {
		if got := w.as(host, 0, "07-report-one-ok"); got.HostID != 0 {
			t.Errorf("hostid %d", got.HostID)
		}
		w.as(host, 5, "07-report-one-ok")
	})
	t.Run("the same sequence number is accepted", func(t *testing.T) {
		if got := w.as(host, 5, "07-report-one-ok"); got.HostID != 0 {
			t.Errorf("hostid %d", got.HostID)
		}
	})
	t.Run("an older sequence number makes a new host", func(t *testing.T) {
		if got := w.as(host, 4, "11-old-seqno"); got.HostID == 0 || got.HostID == host {
			t.Errorf("hostid %d, want a new one", got.HostID)
		}
	})
	t.Run("an unknown host id finds the host by its looks", func(t *testing.T) {
		got := w.as(999999, 1, "12-unknown-hostid")
		if got.HostID == 0 || texts(got) != "low: Can't find host record" {
			t.Errorf("hostid %d, %s", got.HostID, texts(got))
		}
	})
	t.Run("another account's host becomes a new one", func(t *testing.T) {
		w.update(func(tx *store.Tx) error {
			u := w.User
			u.EmailAddr, u.Authenticator = "b@example.org", "00000000000000000000000000000002"
			_, err := tx.InsertUser(u)
			return err
		})
		got := w.as(host, 9, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>00000000000000000000000000000002")
		if got.HostID == 0 || got.HostID == host {
			t.Errorf("hostid %d, want a new one", got.HostID)
		}
	})
	t.Run("a merged host is led to its successor", func(t *testing.T) {
		merged := host + 100
		w.update(func(tx *store.Tx) error {
			var id int64
			for id < merged {
				var err error
				if id, err = tx.InsertHost(store.Host{UserID: 0}); err != nil {
					return err
				}
			}
			old, err := tx.Host(id)
			if err != nil {
				return err
			}
			return tx.UpdateHost(old, store.Host{ID: id, RPCSeqno: host})
		})
		if got := w.as(merged, 3, "07-report-one-ok"); got.HostID != host {
			t.Errorf("hostid %d, want %d", got.HostID, host)
		}
	})
	t.Run("a weak key is good enough", func(t *testing.T) {
		weak := protocol.WeakKey(w.User.ID, w.User.Authenticator, w.User.PasswdHash)
		got := w.as(host, 50, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>"+weak)
		if got.User == nil || got.User.ID != w.User.ID {
			t.Errorf("user %+v: %s", got.User, texts(got))
		}
	})
	for _, key := range []string{"10000000000000000000000000000001", "1_00000000000000000000000000000000", "x_", "_", ""} {
		t.Run("unknown key "+key, func(t *testing.T) {
			got := w.as(host, 51, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>"+key)
			if got.User != nil || got.RequestDelay != time.Hour ||
				texts(got) != `notice: _("Invalid or missing account key.  To fix, remove and add this project.")` {
				t.Errorf("user %+v, delay %v, %s", got.User, got.RequestDelay, texts(got))
			}
			if len(got.ResultAcks) != 0 {
				t.Error("a stranger's results are acknowledged")
			}
		})
	}
}

// A client that lost its state, or whose first reply was lost, connects as a new one. The results
// that it had are given up so that others can compute them.
func TestReattach(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	host := w.first().HostID
	again := w.first()
	if again.HostID != host {
		t.Errorf("hostid %d, want %d again", again.HostID, host)
	}
	if r := w.result("a_0"); r.Outcome != store.ClientDetached {
		t.Errorf("outcome %v, want client_detached", r.Outcome)
	}
}

// A host that has lost its id, but not a result that it has finished, is rewarded for
// that.
func TestReattachWithAReport(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	w.addWork("b", 1)
	host := w.first().HostID
	sent := w.result("a_0")
	if sent.HostID != host {
		t.Fatalf("a_0 was not sent: %+v", sent)
	}
	first, err := protocol.ParseSchedulerRequest(capture(t, "01-first-contact-with-work"))
	must(t, err)
	first.Results = []protocol.ReportedResult{{Name: "a_0", State: protocol.ClientUploaded}}
	again := w.send(first.Encode())
	if again.HostID != host || len(again.ResultAcks) != 1 {
		t.Errorf("hostid %d, want %d again; acknowledged %v", again.HostID, host, again.ResultAcks)
	}
	if r := w.result("a_0"); r.Outcome != store.Success {
		t.Errorf("outcome %v, want success", r.Outcome)
	}
}
