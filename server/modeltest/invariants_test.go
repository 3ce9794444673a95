package modeltest

import (
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// rest lets time pass until nothing is left to do, with well-behaved hosts, and then checks the
// invariants.
func (w *world) rest() {
	w.drain = true
	n := len(w.hosts)
	defer func() { w.drain, w.hosts = false, w.hosts[:n] }()
	for round := 0; !w.failed; round++ {
		for passes := 0; w.turn() && !w.failed; passes++ {
			if passes > 1000 {
				w.failf("at %v the daemons find work again and again", w.now)
			}
		}
		o := w.outlook()
		switch {
		case len(o.unsent) > 0:
			if !w.help(o.unsent) {
				w.now = w.now.Add(time.Hour) // some is kept for reliable computers for a day
			}
		case o.waiting != "":
			w.now = w.now.Add(time.Hour)
		case o.next.Before(store.Never):
			if o.next.After(w.now) {
				w.now = o.next
			}
			w.now = w.now.Add(time.Second)
		default:
			w.check()
			w.clear()
			return
		}
		if round > 1000 {
			w.failf("stalled at %v: %v", w.now, &o)
		}
	}
}

// turn lets each daemon pass once, and reports whether one of them did anything.
func (w *world) turn() (busy bool) {
	for d := range purging {
		busy = w.pass(0, d) > 0 || busy
	}
	return busy
}

// An outlook is the work that is left to do.
type outlook struct {
	next    time.Time         // when the transitioner looks
	unsent  []store.Candidate // a result to send of each kind
	waiting string            // work that some daemon has put off, or ""
}

func (o *outlook) String() string {
	s := fmt.Sprintf("the transitioner looks at %v", o.next)
	for _, c := range o.unsent {
		s += fmt.Sprintf("; %s of application %d waits for %v %d, class %d, version %d, last chance %v, suspicious %v", c.Name, c.AppID, c.Target.Type, c.Target.ID, c.HRClass, c.AppVersionID, c.LastChance, c.Suspicious)
	}
	return s + "; " + o.waiting
}

func (w *world) outlook() (o outlook) {
	o.next = store.Never
	w.view(func(tx *store.View) error {
		due, err := tx.Due(store.Never.Add(-time.Second), 1)
		if err != nil {
			return err
		}
		if len(due) > 0 {
			wu, err := tx.Workunit(due[0])
			if err != nil {
				return err
			}
			o.next = wu.TransitionTime
		}
		if o.unsent, err = w.unsent(tx); err != nil {
			return err
		}
		for _, queue := range []struct {
			what string
			ids  store.Queue
		}{
			{"validation of workunit", store.NeedValidate},
			{"assimilation of workunit", store.ToAssimilate},
			{"inputs of workunit", store.InputsToDelete},
			{"outputs of result", store.OutputsToDelete},
		} {
			ids, err := tx.Waiting(queue.ids, 0, 1)
			if err != nil {
				return err
			}
			if len(ids) > 0 {
				o.waiting = fmt.Sprint(queue.what, " ", ids[0])
			}
		}
		if len(o.unsent) > 0 || o.waiting != "" || o.next.Before(store.Never) {
			return nil
		}
		o.waiting, err = w.undeleted(tx)
		return err
	})
	return o
}

// undeleted returns the name of a row whose files could not be deleted yet, or "".
func (w *world) undeleted(tx *store.View) (string, error) {
	ids := make([]int64, 0, len(w.wus))
	for _, name := range w.names {
		ids = append(ids, w.wus[name].id)
	}
	jobs, err := tx.Jobs(ids)
	for _, id := range ids {
		if wu := jobs[id].Workunit; wu.FileDeleteState == store.DeleteError {
			return wu.Name, err
		}
		for _, r := range jobs[id].Results {
			if r.FileDeleteState == store.DeleteError {
				return r.Name, err
			}
		}
	}
	return "", err
}

// doctor checks the invariants that are true at any time.
func (w *world) doctor() {
	w.view(func(tx *store.View) error {
		wrong, err := tx.Doctor()
		for _, v := range wrong {
			w.failf("%v", v)
		}
		return err
	})
}

// check checks the invariants that are true at rest.
func (w *world) check() {
	granted := maps.Clone(w.kept) // by host
	w.doctor()
	w.view(func(tx *store.View) (err error) {
		for _, name := range w.names {
			w.checkWorkunit(tx, name, granted)
		}
		for id, sum := range granted {
			h, err := tx.Host(id)
			if err != nil {
				return err
			}
			if math.Abs(h.TotalCredit-sum) > 1e-6*(1+sum) {
				w.failf("host %d has credit %v, its results %v", id, h.TotalCredit, sum)
			}
		}
		return err
	})
	for name := range w.input {
		w.failf("input %s is left", name)
	}
	w.view(func(tx *store.View) error {
		for token := range int64(3) {
			if n, err := tx.TokenBytes(token); err != nil || n != 0 {
				w.failf("token %d has %d bytes, %v", token, n, err)
			}
		}
		return nil
	})
}

func (w *world) checkWorkunit(tx *store.View, name string, granted map[int64]float64) {
	k := w.wus[name]
	before := w.failed
	defer func() {
		if w.failed && !before {
			w.t.Log(tell(tx, name))
		}
	}()
	wu, err := tx.WorkunitByName(name)
	if err != nil {
		w.failf("%v", err)
		return
	}
	if (wu.CanonicalResultID != 0) == (wu.ErrorMask != 0) {
		w.failf("%s ends with canonical result %d and error mask %d", name, wu.CanonicalResultID, wu.ErrorMask)
	}
	if wu.AssimilateState != store.AssimilateDone || k.calls-k.lost != 1 {
		w.failf("%s was assimilated %d times, %d of them before a crash; %v", name, k.calls, k.lost, wu.AssimilateState)
	}
	if wu.FileDeleteState != store.DeleteDone {
		w.failf("files of %s: %v", name, wu.FileDeleteState)
	}
	results, err := tx.ResultsOf(wu.ID)
	if err != nil {
		w.failf("%v", err)
	}
	agreed, counted := 0, 0
	users, classes := map[int64]bool{}, map[string]bool{}
	for _, r := range results {
		if r.ServerState != store.Over || r.Outcome == store.OutcomeInit {
			w.failf("%s ends %v", r.Name, r.ServerState)
		}
		if r.Outcome == store.Success && (r.ValidateState == store.ValidateInit || r.ValidateState == store.Inconclusive) {
			w.failf("%s ends a success that is %v", r.Name, r.ValidateState)
		}
		if (r.ValidateState == store.Valid) != (r.GrantedCredit > 0) {
			w.failf("%s is %v and has credit %v", r.Name, r.ValidateState, r.GrantedCredit)
		}
		if r.ValidateState == store.Valid {
			agreed++
		}
		anew := r.ID > wu.RetriedResultID // made since it was revived
		if anew {
			counted++
		}
		if r.HostID != 0 {
			granted[r.HostID] += r.GrantedCredit
			if !w.spoiled(r) {
				if w.cfg.OneResultPerUserPerWU && users[r.UserID] && !k.target.Alone() {
					w.failf("user %d has two results of %s", r.UserID, name)
				}
				users[r.UserID] = true
			}
		}
		// The result may have been reported by another computer of the same user.
		if class, known := w.sentTo[r.Name]; known && r.Outcome == store.Success && (anew || r.ValidateState == store.Valid) {
			if classes[class] = true; len(classes) > 1 {
				w.failf("%s: computers of several classes compute %s: %v", r.Name, name, classes)
			}
		}
		if v := w.version(r.AppVersionID); k.app.pinned && r.ValidateState == store.Valid && r.AppVersionID != wu.AppVersionID && !v.gone {
			w.failf("%s is valid with version %d, its workunit is committed to %d", r.Name, r.AppVersionID, wu.AppVersionID)
		}
		if r.Outcome == store.CouldntSend && (w.cfg.MaxInfeasible == 0 || k.need.memory < 5e8 && k.need.disk < 2e9) {
			w.failf("%s is given up, though any computer is large enough for it", r.Name)
		}
		if _, left := w.files[output(r.Name)]; left && !w.strays[r.Name] && !givenUp(r) {
			w.failf("output of %s is left: %v, %v, %v", r.Name, r.Outcome, r.ValidateState, r.FileDeleteState)
		}
	}
	if counted > wu.MaxTotalResults {
		w.failf("%s has %d results, at most %d are allowed", name, counted, wu.MaxTotalResults)
	}
	if wu.CanonicalResultID == 0 {
		return
	}
	most := k.quorum/2 + 1
	if wu.Suspicious { // a result of a trusted account decided
		w.doubted++
		most = 1
	}
	if agreed < most {
		w.failf("%s has a canonical result with which %d agree, want %d", name, agreed, most)
	}
}

// tell describes a workunit and its results.
func tell(tx *store.View, name string) string {
	wu, err := tx.WorkunitByName(name)
	if err != nil {
		return err.Error()
	}
	results, err := tx.ResultsOf(wu.ID)
	if err != nil {
		return err.Error()
	}
	wu.XMLDoc = ""
	s := fmt.Sprintf("%+v\n", wu)
	for _, r := range results {
		s += fmt.Sprintf("  %s %v %v %v files %v, host %d, received %v, deadline %v\n", r.Name, r.ServerState, r.Outcome, r.ValidateState,
			r.FileDeleteState, r.HostID, r.ReceivedTime.Unix(), r.ReportDeadline.Unix())
	}
	return s
}

// spoiled reports whether a result failed for good with a version that is withdrawn: its user
// may have another one of the workunit.
func (w *world) spoiled(r store.Result) bool {
	v := w.version(r.AppVersionID) // nil: the volunteer's own
	failed := r.Outcome == store.ClientError || r.Outcome == store.DidntNeed || r.Outcome == store.ValidateError || r.ValidateState == store.Invalid
	return failed && v != nil && v.gone
}
