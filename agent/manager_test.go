package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

const (
	managerURL = "http://127.0.0.1:18090/am/"
	chosenURL  = "http://127.0.0.1:18091/chosen/"
)

// managerReply returns a reply with one account.
func managerReply(t *testing.T, key *protocol.PrivateKey, url, account, rest string) answer {
	t.Helper()
	sig, err := key.SignText(url)
	must(t, err)
	return answer{code: 200, body: fmt.Appendf(nil, `<?xml version="1.0"?>
<acct_mgr_reply>
<name>Chooser</name>
<signing_key>
%s</signing_key>
<account>
<url>%s</url>
<url_signature>
%s</url_signature>
%s
</account>
%s
</acct_mgr_reply>`, key.Public().Text(), url, sig, account, rest)}
}

func signingKey(t *testing.T, name string) *protocol.PrivateKey {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "protocol", "testdata", "vectors", name))
	must(t, err)
	key, err := protocol.ParsePrivateKey(string(b))
	must(t, err)
	return key
}

// find returns a project as it is shown, or false if it is not there.
func find(s control.Status, url string) (control.Project, bool) {
	for _, p := range s.Projects {
		if p.MasterURL == url && !p.Disconnected {
			return p, true
		}
	}
	return control.Project{}, false
}

// TestManager follows an account manager through its instructions, its silence, a restart and its
// change of mind.
func TestManager(t *testing.T) {
	t.Parallel()
	key := signingKey(t, "code_sign_private")
	answers := withMaster(t, "http://127.0.0.1:18080/demo_cgi/")
	hourly := "<opaque><mark>7</mark></opaque><repeat_sec>3600</repeat_sec>"
	answers[manage] = []answer{
		managerReply(t, key, chosenURL, "<authenticator>0abc</authenticator><resource_share>30</resource_share><suspend>1</suspend>", hourly),
		{code: 404},
		managerReply(t, signingKey(t, "code_sign_new_private"), "http://127.0.0.1:1/evil/", "<authenticator>1</authenticator>", hourly),
		managerReply(t, key, chosenURL, "<dont_request_more_work>1</dont_request_more_work><suspend>1</suspend>", hourly),
		managerReply(t, key, chosenURL, "<detach>1</detach>", hourly),
	}
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		if err := w.a.SyncManager(t.Context()); err == nil || !strings.Contains(err.Error(), "no account manager is in use") {
			t.Errorf("asked without one: %v", err)
		}
		must(t, w.a.JoinManager(t.Context(), managerURL, "Ann", "hash"))
		s := w.after(t, time.Second)
		p, ok := find(s, chosenURL)
		if !ok || p.Share != 30 || !p.Suspended || p.Manager != managerURL || s.Manager == nil || s.Manager.Name != "Chooser" {
			t.Fatalf("after joining: %+v, manager %+v", s.Projects, s.Manager)
		}
		if own, ok := find(s, demoURL); !ok || own.Manager != "" {
			t.Errorf("the volunteer's own project: %+v", own)
		}
		if !strings.Contains(w.told[0], "<name>Ann</name>\n<password_hash>hash</password_hash>") || strings.Contains(w.told[0], "account_key") {
			t.Errorf("told at first: %s", w.told[0])
		}
		// A person's setting takes precedence over the manager's until the manager changes its own.
		must(t, w.a.SteerProject(t.Context(), chosenURL, control.ResumeProject))
		if err := w.a.JoinManager(t.Context(), "http://127.0.0.1:18092/other/", "Ann", "hash"); err == nil || !strings.Contains(err.Error(), "leave it first") {
			t.Errorf("joined another: %v", err)
		}
		// It is asked again after its hour, fails, and is left alone for a while.
		s = w.after(t, time.Hour)
		if w.count(manage) != 2 || s.Manager.Trouble != "The address leads nowhere (HTTP 404 Not Found): it is wrong, or the account manager has moved or closed." || !strings.Contains(s.Manager.TroubleCure, "starling manager leave") || !s.Manager.NextContact.After(time.Now()) {
			t.Errorf("after an hour: asked %d times, %+v", w.count(manage), s.Manager)
		}
		if told := w.told[1]; !strings.Contains(told, "<opaque>\n<mark>7</mark>") || !strings.Contains(told, "<account_key>0abc</account_key>") || !strings.Contains(told, "<previous_host_cpid>"+strings.Repeat("c", 32)) {
			t.Errorf("told then: %s", told)
		}
		due := s.Manager.NextContact
		w.stop()
		w.start(t)
		if s = w.after(t, time.Second); w.count(manage) != 2 || !s.Manager.NextContact.Equal(due) {
			t.Errorf("a restart forgot the backoff: asked %d times, next %v, want %v", w.count(manage), s.Manager.NextContact, due)
		}
		s = w.after(t, time.Until(due)+time.Second)
		if n := w.count(manage); n != 3 || !strings.Contains(s.Manager.Trouble, "signing key") {
			t.Fatalf("asked %d times, trouble %q", n, s.Manager.Trouble)
		}
		if _, ok := find(s, "http://127.0.0.1:1/evil/"); ok {
			t.Error("attached to a project of somebody else's key")
		}
		if err := w.a.SyncManager(t.Context()); err != nil {
			t.Error(err)
		}
		if p, _ = find(w.after(t, time.Second), chosenURL); p.Suspended || !p.NoMoreWork || p.Share != 100 {
			t.Errorf("after its word: %+v; want it resumed as the person said, with no more work", p)
		}
		if err := w.a.SyncManager(t.Context()); err != nil {
			t.Error(err)
		}
		s = w.after(t, time.Minute)
		if _, ok := find(s, chosenURL); ok {
			t.Error("not detached")
		}
		if _, ok := find(s, demoURL); !ok {
			t.Error("the volunteer's own project has gone")
		}
	})
}

// A manager removes a project that has tasks here. The reason names the manager, since it would remove
// the project again after an undo alone.
func TestAManagerDetaches(t *testing.T) {
	t.Parallel()
	key, answers := signingKey(t, "code_sign_private"), withMaster(t, demoURL)
	answers[manage] = []answer{
		managerReply(t, key, demoURL, "<resource_share>7</resource_share>", "<repeat_sec>3600</repeat_sec>"),
		managerReply(t, key, demoURL, "<detach>1</detach>", "<repeat_sec>3600</repeat_sec>"),
	}
	w := newWorld(t, demoURL, answers, waiting)
	w.run(func(t *testing.T) {
		must(t, w.a.JoinManager(t.Context(), managerURL, "Ann", "hash"))
		if p := w.keeps(t, w.after(t, time.Second)); p.Share != 7 || p.Ending != "" {
			t.Fatalf("while the manager has it: %+v", p)
		}
		must(t, w.a.SyncManager(t.Context()))
		p := w.keeps(t, w.after(t, time.Second))
		if !strings.HasPrefix(p.Ending, "The account manager Chooser detached the project.") || !strings.Contains(p.Ending, "starling manager leave; then: starling undo "+demoURL) {
			t.Errorf("told: %q", p.Ending)
		}
		must(t, w.a.LeaveManager(t.Context(), false))
		must(t, w.a.SteerProject(t.Context(), demoURL, control.UndoProject))
		if p := w.keeps(t, w.after(t, 2*time.Hour)); p.Ending != "" || p.Disconnected {
			t.Errorf("undone: %+v", p)
		}
	})
}

// TestLeaveManager checks the state after leaving a manager.
func TestLeaveManager(t *testing.T) {
	t.Parallel()
	key := signingKey(t, "code_sign_private")
	for _, detach := range []bool{false, true} {
		t.Run(fmt.Sprint("detach=", detach), func(t *testing.T) {
			answers := withMaster(t, "http://127.0.0.1:18080/demo_cgi/")
			prefs := "<global_preferences><mod_time>1</mod_time><max_ncpus_pct>40</max_ncpus_pct></global_preferences><repeat_sec>3600</repeat_sec>"
			answers[manage] = []answer{
				managerReply(t, key, chosenURL, "<authenticator>0abc</authenticator>", prefs),
				managerReply(t, key, demoURL, "<resource_share>7</resource_share>", prefs),
			}
			w := newWorld(t, demoURL, answers, nil)
			w.run(func(t *testing.T) {
				must(t, w.a.JoinManager(t.Context(), managerURL, "Ann", "hash"))
				must(t, w.a.SyncManager(t.Context()))
				if p, _ := find(w.after(t, time.Second), demoURL); p.Share != 7 {
					t.Errorf("share %v, want the manager's", p.Share)
				}
				if p, err := w.a.Prefs(t.Context()); err != nil || p.MaxNCPUsPct != 40 || p.Origin["max_ncpus_pct"] != managerURL {
					t.Errorf("preferences %v from %q, %v; want the manager's", p.MaxNCPUsPct, p.Origin["max_ncpus_pct"], err)
				}
				must(t, w.a.LeaveManager(t.Context(), detach))
				s := w.after(t, time.Minute)
				p, ok := find(s, demoURL)
				if !ok || p.Share != 100 || p.Manager != "" || s.Manager != nil {
					t.Errorf("own project %v %+v, manager %+v", ok, p, s.Manager)
				}
				if _, ok := find(s, chosenURL); ok == detach {
					t.Errorf("the manager's project is there: %v", ok)
				}
				if accounts, _, err := settings.LoadAccounts(w.dir); err != nil || len(accounts) != len(s.Projects) {
					t.Errorf("accounts %+v, %v", accounts, err)
				}
				w.after(t, 2*time.Hour)
				if n := w.count(manage); n != 2 {
					t.Errorf("asked %d times, want not after it was left", n)
				}
			})
		})
	}
}

// TestManagerRefuses checks that nothing is kept about a manager that refused the account or does not
// answer, and that the reason is shown.
func TestManagerRefuses(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, "http://127.0.0.1:18080/demo_cgi/")
	answers[manage] = []answer{
		{code: hangs},
		{code: 200, body: []byte("<acct_mgr_reply><error_num>-206</error_num></acct_mgr_reply>")},
		{code: 200, body: []byte("<acct_mgr_reply><error>come back tomorrow</error></acct_mgr_reply>")},
		{code: 200, body: []byte("<acct_mgr_reply></acct_mgr_reply>")},
		{code: 200, body: []byte("<html>Log in to the hotel</html>")},
		{code: 410},
	}
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		for i, want := range []string{"does not answer", "rejects the name or the password", "refuses: come back tomorrow.", "lacks a signing key", "a web page that is not an account manager's", "Der Kontomanager wurde geschlossen (HTTP 410 Gone)."} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err := w.a.JoinManager(ctx, managerURL, "Ann", "hash")
			got, _ := words.Explanation(err)
			if l := []words.Language{words.English, "de"}[i/5]; !strings.Contains(got.In(l), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			cancel()
		}
		if s := w.after(t, 3*time.Hour); s.Manager != nil || w.count(manage) != 6 {
			t.Errorf("manager %+v, asked %d times", s.Manager, w.count(manage))
		}
	})
}

// TestDiskShare checks that account managers and tools get the same number for the disk that a
// project may take.
func TestDiskShare(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, "http://127.0.0.1:18080/demo_cgi/")
	answers[manage] = []answer{managerReply(t, signingKey(t, "code_sign_private"), chosenURL, "<authenticator>0abc</authenticator><resource_share>0</resource_share>", "")}
	answers[manage] = append(answers[manage], answers[manage][0])
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		must(t, errors.Join(w.a.JoinManager(t.Context(), managerURL, "Ann", "hash"), w.a.SyncManager(t.Context())))
		v, err := w.a.Tools(t.Context())
		if err != nil || len(v.Projects) != 2 {
			t.Fatalf("%d projects, %v", len(v.Projects), err)
		}
		for _, p := range v.Projects {
			part := map[string]float64{demoURL: 110, chosenURL: 10}[p.MasterURL] / 120
			if want := float64(v.DiskMay) * part; want == 0 || math.Abs(float64(p.DiskShare)-want) > 1 {
				t.Errorf("tools see a share of %d for %s, want %.0f of %d", p.DiskShare, p.MasterURL, want, v.DiskMay)
			}
		}
		_, told, _ := strings.Cut(w.told[1], "<url>"+demoURL)
		_, told, _ = strings.Cut(told, "<disk_share>")
		told, _, _ = strings.Cut(told, "</disk_share>")
		if share, err := strconv.ParseFloat(told, 64); err != nil || math.Abs(share/float64(v.DiskMay)-110.0/120) > 0.01 {
			t.Errorf("the manager is told %q of %d, %v", told, v.DiskMay, err)
		}
	})
}

// TestAManagersWildWord lets a manager send values that no file may contain.
func TestAManagersWildWord(t *testing.T) {
	t.Parallel()
	key := signingKey(t, "code_sign_private")
	for _, share := range []string{"1e308", "-5", "nan", "inf", "1000001"} {
		answers := withMaster(t, "http://127.0.0.1:18080/demo_cgi/")
		answers[manage] = []answer{managerReply(t, key, chosenURL, "<authenticator>0abc</authenticator><resource_share>"+share+"</resource_share>", "")}
		w := newWorld(t, demoURL, answers, nil)
		w.run(func(t *testing.T) {
			must(t, w.a.JoinManager(t.Context(), managerURL, "Ann", "hash"))
			w.stop()
			w.start(t)
			s := w.after(t, time.Second)
			if p, ok := find(s, chosenURL); !ok || p.Share != 100 || len(s.Complaints) > 0 {
				t.Errorf("share %s: after a restart %+v; complaints %q", share, p, s.Complaints)
			}
		})
	}
}

// TestPreferencesFromTheFuture lets a project send preferences that were changed tomorrow, and
// later more of them. Those of other projects count all the same.
func TestPreferencesFromTheFuture(t *testing.T) {
	t.Parallel()
	reply := func(mod int64, cpus string) answer {
		return answer{code: 200, body: fmt.Appendf(nil, "<scheduler_reply><hostid>1</hostid><global_preferences><mod_time>%d</mod_time><max_ncpus_pct>%s</max_ncpus_pct></global_preferences></scheduler_reply>", mod, cpus)}
	}
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	answers := withMaster(t, demoURL, reply(start+20*3600, "1"), reply(start+20*3600, "1"), reply(start+900, "50"))
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		for n, want := range []float64{1, 1, 50} {
			w.after(t, 10*time.Minute)
			must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
			for w.count(sched) < n+1 {
				w.after(t, time.Second)
			}
			w.after(t, time.Second)
			if p, err := w.a.Prefs(t.Context()); err != nil || n == 2 && p.MaxNCPUsPct != want {
				t.Errorf("after answer %d: %v, %v; want %v", n+1, p.MaxNCPUsPct, err, want)
			}
		}
	})
}
