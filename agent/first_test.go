package agent_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/reason"
)

// gone returns a server that cannot be reached. One contact makes three short attempts.
func gone(contacts int) (all []answer) {
	for range 3 * contacts {
		all = append(all, answer{code: 0})
	}
	return all
}

// A project that is attached while its server is down is found soon after it is back. Meanwhile the
// wait is shown with its cause and its end.
func TestAProjectAttachedDuringAnOutageIsFoundSoon(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL, answer{code: 200, body: []byte("<scheduler_reply><hostid>1</hostid></scheduler_reply>")})
	answers[master] = append(gone(5), answers[master]...)
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		p := w.project(t, 20*time.Second)
		if p.TroubleCode != reason.ConnectionLost || p.Failures != 1 || p.NextContact.IsZero() || p.NextContact.After(time.Now().Add(time.Minute)) || p.WorkCode != p.TroubleCode {
			t.Errorf("after the first attempt: %+v", p)
		}
		if p = w.project(t, 40*time.Minute); !p.Initialized || p.TroubleCode != "" {
			t.Errorf("after 40 minutes, back for some: %+v", p)
		}
	})
}

// A project whose server never answers is asked every hour for a day, and then by BOINC's rules.
func TestAProjectThatNeverAnswersIsAskedLess(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL)
	answers[master] = []answer{{code: 404}}
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		w.after(t, 24*time.Hour)
		first := w.count(master)
		if first < 28 || first > 40 {
			t.Errorf("asked %d times on the first day", first)
		}
		w.after(t, 24*time.Hour)
		if n := w.count(master) - first; n < 3 || n > 5 {
			t.Errorf("asked %d times on the second day", n)
		}
	})
}

// If a person updates a project while its page is to be fetched first, that person wants an answer
// of the project: the page is not enough.
func TestUpdateGoesOnToTheScheduler(t *testing.T) {
	t.Parallel()
	reply := answer{code: 200, body: []byte("<scheduler_reply><hostid>1</hostid><request_delay>86400</request_delay></scheduler_reply>")}
	fails := answer{code: 404}
	answers := withMaster(t, demoURL, reply, fails, fails, fails, fails, fails, fails, fails, fails, fails, fails, reply)
	answers[master] = append(answers[master], answer{code: 404}, answers[master][0])
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		w.after(t, time.Minute)
		steer := func(what control.ProjectAction) {
			must(t, w.a.SteerProject(t.Context(), demoURL, what))
			w.after(t, 5*time.Second)
		}
		steer(control.NoMoreWork) // or it would be contacted for work
		for range 10 {            // the tenth has the page fetched again, which fails
			steer(control.UpdateProject)
		}
		if p := w.project(t, 0); p.TroubleCode != reason.NotFound || w.count(master) != 2 {
			t.Fatalf("%d pages: %+v", w.count(master), p)
		}
		steer(control.UpdateProject)
		if p := w.project(t, 0); p.TroubleCode != "" || w.count(master) != 3 || w.count(sched) != 12 || p.Asked || p.InContact {
			t.Errorf("%d pages, %d contacts: %+v", w.count(master), w.count(sched), p)
		}
	})
}
