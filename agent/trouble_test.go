package agent_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// Trouble lasts from its first contact on, survives a restart, and ends with the first reply
// that is in order: here of a server that acknowledges nothing, for a while.
func TestTroubleHasAStartAndAnEnd(t *testing.T) {
	t.Parallel()
	reply := func(ack string) answer {
		return answer{code: 200, body: []byte("<scheduler_reply>" + ack + "</scheduler_reply>")}
	}
	none, good := reply(""), reply("<result_ack><name>w_0</name></result_ack>")
	w := newWorld(t, demoURL, withMaster(t, demoURL, none, none, none, good), func(db *state.DB, tx *state.Tx) {
		waiting(db, tx)
		p, _ := db.Projects.Get(demoURL)
		p.Contact.MinRPCTime = time.Time{}
		db.Projects.Put(tx, demoURL, p)
		key := state.Key(demoURL, "w_0")
		r, _ := db.Results.Get(key)
		r.State, r.Suspended, r.ReadyToReport = protocol.ClientUploaded, false, true
		db.Results.Put(tx, key, r)
	})
	w.run(func(t *testing.T) {
		first := w.project(t, time.Minute)
		if first.TroubleCode != reason.NotAcknowledged || first.TroubleSince.IsZero() || first.TroubleCure == "" {
			t.Fatalf("after the first contact: %+v", first)
		}
		for w.count(sched) < 2 {
			w.after(t, time.Minute)
		}
		w.stop()
		w.start(t)
		if p := w.project(t, time.Second); p.TroubleCode != first.TroubleCode || !p.TroubleSince.Equal(first.TroubleSince) {
			t.Errorf("after another contact and a restart: %+v, want since %v", p, first.TroubleSince)
		}
		for w.count(sched) < 4 {
			w.after(t, time.Minute)
		}
		if p := w.project(t, time.Second); p.TroubleCode != "" || p.Trouble != "" || !p.TroubleSince.IsZero() {
			t.Errorf("after a reply in order: %+v", p)
		}
	})
}

// A server that refuses the account acknowledges nothing. The refusal is the trouble, and the server's delay
// holds until the account file has another key.
func TestARefusalIsWhyNothingIsAcknowledged(t *testing.T) {
	t.Parallel()
	const refusal = `<scheduler_reply><request_delay>36000</request_delay><message priority="notice">Invalid or missing account key.  To fix, remove and add this project.</message></scheduler_reply>`
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: []byte(refusal)}), func(db *state.DB, tx *state.Tx) {
		waiting(db, tx)
		p, _ := db.Projects.Get(demoURL)
		p.Contact.MinRPCTime = time.Time{}
		db.Projects.Put(tx, demoURL, p)
		key := state.Key(demoURL, "w_0")
		r, _ := db.Results.Get(key)
		r.State, r.Suspended, r.ReadyToReport = protocol.ClientUploaded, false, true
		db.Results.Put(tx, key, r)
	})
	w.run(func(t *testing.T) {
		var p control.Project
		for n := 0; n < 100 && w.count(sched) == 0; n++ {
			p = w.project(t, time.Minute)
		}
		if p.TroubleCode != reason.KeyRefused {
			t.Errorf("got %q: %s", p.TroubleCode, p.Trouble)
		}
		if w.after(t, 9*time.Hour); w.count(sched) != 1 {
			t.Errorf("%d contacts in the delay of ten hours", w.count(sched))
		}
		path := settings.AccountPath(w.dir, demoURL)
		text, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, []byte(regexp.MustCompile(`(?m)^authenticator = .*$`).ReplaceAllString(string(text), `authenticator = "00f1"`)), 0o600))
		must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject)) // sooner than the file is looked at
		if w.after(t, time.Minute); w.count(sched) != 2 || w.request(t, 1).Authenticator != "00f1" {
			t.Errorf("%d contacts after the key was corrected, the last with key %s", w.count(sched), w.request(t, 1).Authenticator)
		}
	})
}

// That this computer lacks something tasks need is shown until a request for work brings another
// answer. A request that only reports brings no news about it.
func TestWhatTasksNeedIsSaidUntilWorkIsAskedFor(t *testing.T) {
	t.Parallel()
	const need = `<message priority="low">Tasks of upper need Podman or Docker, which this computer does not offer</message>`
	ack := answer{code: 200, body: []byte("<scheduler_reply><result_ack><name>w_0</name></result_ack></scheduler_reply>")}
	for _, asks := range []bool{false, true} {
		w := newWorld(t, demoURL, withMaster(t, demoURL, ack), func(db *state.DB, tx *state.Tx) {
			waiting(db, tx)
			p, _ := db.Projects.Get(demoURL)
			x := reason.OfReply([]string{string(protocol.RefusedContainers)}, []string{need})
			p.Contact.Trouble = reason.Reason{Code: x.Code, About: x.About, Since: time.Now()}
			db.Projects.Put(tx, demoURL, p)
			key := state.Key(demoURL, "w_0")
			r, _ := db.Results.Get(key)
			r.State, r.Suspended, r.ReadyToReport = protocol.ClientUploaded, false, true
			db.Results.Put(tx, key, r)
		})
		w.run(func(t *testing.T) {
			steer := func(what control.ProjectAction) {
				must(t, w.a.SteerProject(t.Context(), demoURL, what))
				w.after(t, 5*time.Second)
			}
			if !asks {
				steer(control.NoMoreWork)
			}
			if p := w.project(t, time.Second); p.TroubleCode == "" || w.count(sched) != 0 {
				t.Fatalf("before any contact: %+v", p)
			}
			steer(control.UpdateProject)
			if w.count(sched) == 0 {
				t.Fatal("the project was not contacted")
			}
			if p := w.project(t, time.Second); (p.TroubleCode != "") == asks {
				t.Errorf("asked for work: %v, and the trouble is %q", asks, p.TroubleCode)
			}
		})
	}
}
