package agent_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// emptyReply brings no tasks, and a text of a test.
const emptyReply = "<scheduler_reply>\n<scheduler_version>800</scheduler_version>\n<request_delay>7</request_delay>\n%s</scheduler_reply>\n"

// idle sets up a project that has been attached for a while, without tasks.
func idle(db *state.DB, tx *state.Tx) {
	waiting(db, tx)
	for key := range db.Results.All() {
		db.Results.Delete(tx, key)
	}
	p, _ := db.Projects.Get(demoURL)
	p.Contact.MinRPCTime, p.AttachedAt = time.Time{}, time.Now().Add(-100*time.Hour)
	db.Projects.Put(tx, demoURL, p)
}

// When a server corrects the speed of an app version, the ratios that were learned change with it:
// the version's, which counts for its tasks, and the project's, for other versions.
func TestACorrectedSpeed(t *testing.T) {
	t.Parallel()
	const corrected = "<app><name>slow</name></app>\n<app_version><app_name>slow</app_name><version_num>100</version_num><platform>x86_64-pc-linux-gnu</platform><flops>1e7</flops></app_version>\n"
	for name, c := range map[string]struct {
		ofProject, ofVersion state.Estimates
		want                 float64
	}{
		"of the version": {state.Estimates{Results: 9, Ratio: 7e6}, state.Estimates{Results: 3, Ratio: 1e6}, 1},
		"of the project": {state.Estimates{Results: 9, Ratio: 7e6}, state.Estimates{}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: fmt.Appendf(nil, emptyReply, corrected)}), func(db *state.DB, tx *state.Tx) {
				idle(db, tx)
				v := state.AppVersion{Project: demoURL, AppVersion: protocol.AppVersion{AppName: "slow", Platform: "x86_64-pc-linux-gnu", VersionNum: 100, Flops: 1e13}, Estimates: c.ofVersion}
				db.Apps.Put(tx, state.Key(demoURL, "slow"), state.App{Project: demoURL, App: protocol.App{Name: "slow"}})
				db.Versions.Put(tx, v.ID(), v)
				p, _ := db.Projects.Get(demoURL)
				p.Estimates, p.JobVersion = c.ofProject, v.ID()
				db.Projects.Put(tx, demoURL, p)
			})
			w.run(func(t *testing.T) {
				w.after(t, 20*time.Second)
				d, err := w.a.Decision(t.Context())
				must(t, err)
				if got := d.Snapshot.Projects[0].Estimates; math.Abs(got.Ratio/c.want-1) > 1e-9 {
					t.Errorf("learned %+v, want a ratio of %v", got, c.want)
				}
			})
		})
	}
}

// If a server sends the end of its refusal, the agent uses it. The server's messages about the
// computer and about its own address reach the volunteer.
func TestWhatARefusalTells(t *testing.T) {
	t.Parallel()
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a world
	for _, c := range []struct {
		name  string
		says  string
		check func(t *testing.T, w *world, p control.Project)
	}{
		{
			"a quota ends at a known time",
			fmt.Sprintf("<message priority=\"low\">No tasks sent</message>\n<message priority=\"low\">This computer has finished a daily quota of 2 tasks, until midnight UTC</message>\n"+
				"<starling_refusal code=\"daily_quota\" need=\"3\" have=\"2\" until=\"%d\"/>\n", begin.Add(5*time.Hour).Unix()),
			func(t *testing.T, w *world, p control.Project) {
				if p.WorkCode != reason.NoWorkBackoff || !strings.Contains(p.Work, "had the 2 tasks that the project allows it until ") {
					t.Errorf("got %s: %s", p.WorkCode, p.Work)
				}
				w.after(t, 4*time.Hour+50*time.Minute)
				if n := w.count(sched); n != 1 {
					t.Errorf("asked %d times before the quota ends", n)
				}
				w.after(t, 25*time.Minute)
				if n := w.count(sched); n < 2 {
					t.Error("not asked once it has ended")
				}
			},
		},
		{
			"too early is seconds, not minutes",
			fmt.Sprintf("<message priority=\"low\">Not sending work. Last request too recent. Please wait 6 seconds.</message>\n"+
				"<starling_refusal code=\"too_recent\" need=\"10\" have=\"4\" until=\"%d\"/>\n", begin.Add(30*time.Second).Unix()),
			func(t *testing.T, w *world, _ control.Project) {
				w.after(t, time.Minute)
				if n := w.count(sched); n < 2 {
					t.Errorf("asked %d times within a minute", n)
				}
			},
		},
		{
			"another address",
			"<master_url>https://new.example/</master_url>\n",
			func(t *testing.T, _ *world, p control.Project) {
				if p.TroubleCode != reason.Moved || !strings.Contains(p.Trouble, "https://new.example/") || !strings.Contains(p.TroubleCure, "starling detach "+demoURL) {
					t.Errorf("got %s: %s (%s)", p.TroubleCode, p.Trouble, p.TroubleCure)
				}
			},
		},
		{
			"the same address by another scheme",
			"<master_url>" + strings.Replace(strings.TrimSuffix(demoURL, "/"), "http:", "https:", 1) + "</master_url>\n",
			func(t *testing.T, _ *world, p control.Project) {
				if p.Trouble != "" {
					t.Errorf("got %s", p.Trouble)
				}
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: fmt.Appendf(nil, emptyReply, c.says)}), idle)
			w.run(func(t *testing.T) { c.check(t, w, w.after(t, 20*time.Second).Projects[0]) })
		})
	}
}
