package talk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/decide/acctmgr"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// ErrOtherManager is the error if the agent already follows another account manager.
var ErrOtherManager = words.Refuse(words.T("an account manager is already in use; leave it first"))

// JoinManager makes the agent follow an account manager from now on, if that answers and accepts
// the account. It returns when the projects that it names are attached.
func (t *Talk) JoinManager(ctx context.Context, managerURL, login, passwdHash string) error {
	look, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := t.Sched.ProjectConfig(look, managerURL)
	if err == nil && !c.AccountManager {
		return words.Refuse(words.T("{url} is a project, not an account manager; attach to it with: starling attach {url}", "url", managerURL))
	} // without a statement of its kind, it may be a manager all the same
	return t.withManager(ctx, func(m state.Manager) (state.Manager, error) {
		if m.URL != "" && m.URL != managerURL {
			return m, words.Explain(ErrOtherManager, words.T("{url}: an account manager is already in use; leave it first", "url", m.URL))
		}
		m.URL, m.Login, m.PasswordHash, m.Authenticator = managerURL, login, passwdHash, ""
		return m, nil
	})
}

// SyncManager asks the account manager now.
func (t *Talk) SyncManager(ctx context.Context) error {
	return t.withManager(ctx, func(m state.Manager) (state.Manager, error) {
		if m.URL == "" {
			return m, words.Refuse(words.T("no account manager is in use; join one with: starling manager join URL"))
		}
		return m, nil
	})
}

// withManager holds a conversation with the manager that choose returns, given the one that is
// followed, and waits for its end.
func (t *Talk) withManager(ctx context.Context, choose func(state.Manager) (state.Manager, error)) error {
	done := make(chan error, 1)
	err := t.Do(ctx, func() error {
		m, _ := t.DB.Managers.Get(state.Self)
		m, err := choose(m)
		if err == nil && t.manages {
			err = words.Refuse(words.T("a request to the account manager is already in progress"))
		}
		if err == nil {
			t.askManager(ctx, m, done)
		}
		return err
	})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-t.Ctx.Done():
		return core.ErrStopping
	}
}

// LeaveManager stops using the account manager. Projects stay, with the settings in their account
// files. With detach, the projects that the manager attached are detached.
func (t *Talk) LeaveManager(ctx context.Context, detach bool) error {
	return t.Do(ctx, func() error {
		m, _ := t.DB.Managers.Get(state.Self)
		if m.URL == "" {
			return words.Refuse(words.T("no account manager is in use"))
		}
		err := t.DB.Update(func(tx *state.Tx) {
			t.DB.Managers.Delete(tx, state.Self)
			if h, ok := t.DB.Hosts.Get(state.Self); ok && h.Prefs.Project == m.URL {
				h.Prefs = state.AccountPrefs{}
				t.DB.Hosts.Put(tx, state.Self, h)
			}
		})
		if err != nil {
			return err
		}
		t.Log.Info("left the account manager", "manager", m.URL)
		return errors.Join(t.unmanage(detach), t.Rules.ReadFiles())
	})
}

// FollowManager asks the account manager when it wants to be.
func (t *Talk) FollowManager(now time.Time, w *core.Waker) {
	m, ok := t.DB.Managers.Get(state.Self)
	if !ok || t.manages || t.Last.Snapshot.Network.Denied() {
		return
	}
	if now.Before(m.NextTry) {
		w.By(m.NextTry)
		return
	}
	t.askManager(t.Ctx, m, nil)
}

// askManager starts a conversation with m, which ends with ctx. Its outcome is sent to done, if that is
// not nil. done must have room for it.
func (t *Talk) askManager(ctx context.Context, m state.Manager, done chan<- error) {
	t.manages = true
	_, before := t.DB.Managers.Get(state.Self)
	req := t.managerRequest(m, time.Now())
	t.Log.Info("contacting account manager", "manager", m.URL)
	go func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(t.Ctx, cancel)()
		reply, err := t.Sched.Manager(ctx, m.URL, req)
		t.Post(ManagerAnswered{m, before, reply, err, done})
	}()
}

// managerOver handles the end of a conversation, and passes its outcome to a waiting caller.
func (t *Talk) managerOver(e ManagerAnswered) {
	t.manages = false
	err := e.Err
	if _, still := t.DB.Managers.Get(state.Self); e.Followed && !still {
		err = words.Refuse(words.T("you left the account manager in the meantime"))
	} else {
		err = t.managerAnswered(e.Manager, e.Reply, err, time.Now())
	}
	if e.done != nil {
		e.done <- err
	}
}

// managerAnswered handles the outcome of a conversation. A new manager is only followed if it went
// well.
func (t *Talk) managerAnswered(m state.Manager, reply *protocol.ManagerReply, err error, now time.Time) error {
	followed, joined := t.DB.Managers.Get(state.Self)
	if err != nil {
		why := managerTrouble(err, m.URL, now)
		if !joined || m.Login != followed.Login || m.PasswordHash != followed.PasswordHash || errors.Is(err, context.Canceled) {
			return words.Explain(err, why.Text(now)) // someone tried, and gets the error
		}
		f := followed
		f.Failures++
		f.NextTry, f.Why = acctmgr.Failed(now, f.Failures, t.Rand), why.After(f.Why, now)
		t.Log.Warn("no usable reply from the account manager; trying again, and computing continues", "manager", m.URL, "at", f.NextTry, "err", err)
		t.Save(func(tx *state.Tx) { t.DB.Managers.Put(tx, state.Self, f) })
		return words.Explain(err, why.Text(now))
	}
	plan := acctmgr.Decide(m.SigningKey, t.toPolicy(reply), t.managedProjects())
	refused := refusal(plan)
	if refused != nil && !joined {
		return refused
	}
	m = accepted(m, reply, plan.Refused, now)
	m.PreviousCPID, m.Messages = t.Host.HostCPID, slices.Concat(m.Messages, plan.Notes)
	again := m.NextTry
	m.NextTry = now // a crash in the middle has it asked again
	took := false
	if err := t.DB.Update(func(tx *state.Tx) {
		t.DB.Managers.Put(tx, state.Self, m)
		took = t.Rules.TakePrefs(tx, m.URL, reply.GlobalPrefs, now)
	}); err != nil {
		return err
	}
	for _, text := range reply.Messages {
		t.Log.Info("message from account manager", "text", text)
	}
	err = t.applyPlan(m, plan)
	m.NextTry = again
	t.Save(func(tx *state.Tx) { t.DB.Managers.Put(tx, state.Self, m) })
	if took {
		t.Rules.MergePrefs()
	}
	if err != nil {
		t.Log.Error("some instructions of the account manager were not carried out", "manager", m.URL, "err", err)
	}
	return cmp.Or(err, refused)
}

// refusal returns why the instructions of a reply do not count, nil if they do.
func refusal(plan acctmgr.Plan) error {
	if plan.Refused == "" {
		return nil
	}
	return words.Refuse(reason.Reason{Code: plan.Refused}.Text(time.Time{}))
}

// managerTrouble returns why the account manager gave no usable reply.
func managerTrouble(err error, managerURL string, now time.Time) reason.Reason {
	switch refused, ok := errors.AsType[*protocol.AccountError](err); {
	case !ok:
		return schedulerop.Diagnose(err, managerURL, now).OfManager()
	case refused.Num == protocol.ErrNumBadPassword:
		return reason.Reason{Code: reason.ManagerPassword}
	default:
		return reason.Reason{Code: reason.ManagerRefuses, About: refused.Text(), Detail: refused.Error()}
	}
}

// accepted returns the record of a manager after a reply.
func accepted(m state.Manager, r *protocol.ManagerReply, refused reason.Code, now time.Time) state.Manager {
	m.Last, m.Why, m.Messages = now, reason.Reason{Code: refused}, r.Messages
	m.Failures, m.NextTry = 0, acctmgr.Succeeded(now, r.Repeat)
	if refused != "" {
		return m
	}
	m.SigningKey, m.Dynamic, m.NoNotices = r.SigningKey, r.Dynamic, r.NoNotices
	for _, v := range []struct {
		known *string
		told  string
	}{{&m.Name, r.Name}, {&m.UserName, r.UserName}, {&m.TeamName, r.TeamName}, {&m.Opaque, r.Opaque}, {&m.Venue, r.Venue}} {
		if v.told != "" {
			*v.known = v.told
		}
	}
	if r.Authenticator != "" {
		m.Authenticator = r.Authenticator
	}
	return m
}
