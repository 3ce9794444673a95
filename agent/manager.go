package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/starling-grid/starling/acctmgr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// ErrOtherManager says that the agent follows an account manager already.
var ErrOtherManager = errors.New("an account manager is followed already; leave it first")

// JoinManager has the agent follow an account manager from now on, if that answers
// and takes the account. It returns when the projects that it names are attached.
func (a *Agent) JoinManager(ctx context.Context, managerURL, login, passwdHash string) error {
	look, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := a.sched.ProjectConfig(look, managerURL)
	if err == nil && !c.AccountManager {
		return fmt.Errorf("%s is a project, not an account manager; attach to it with: starling attach %s", managerURL, managerURL)
	} // one that does not say what it is may be a manager all the same
	return a.withManager(ctx, func(m state.Manager) (state.Manager, error) {
		if m.URL != "" && m.URL != managerURL {
			return m, fmt.Errorf("%s: %w", m.URL, ErrOtherManager)
		}
		m.URL, m.Login, m.PasswordHash, m.Authenticator = managerURL, login, passwdHash, ""
		return m, nil
	})
}

// SyncManager asks the account manager now.
func (a *Agent) SyncManager(ctx context.Context) error {
	return a.withManager(ctx, func(m state.Manager) (state.Manager, error) {
		if m.URL == "" {
			return m, errors.New("no account manager is followed; join one with: starling manager join URL")
		}
		return m, nil
	})
}

// withManager has a conversation with the manager that choose makes of the one
// that is followed, and waits for its end.
func (a *Agent) withManager(ctx context.Context, choose func(state.Manager) (state.Manager, error)) error {
	done := make(chan error, 1)
	err := a.do(ctx, func() error {
		m, _ := a.db.Managers.Get(state.Self)
		m, err := choose(m)
		if err == nil && a.manages {
			err = errors.New("the account manager is being asked already")
		}
		if err == nil {
			a.askManager(m, done)
		}
		return err
	})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errors.New("the account manager has not answered yet")
	case <-a.ctx.Done():
		return errors.New("the agent is stopping")
	}
}

// LeaveManager follows no account manager any more. Projects stay, with what their
// account files say of them, unless detach is set: then those go that the manager
// attached.
func (a *Agent) LeaveManager(ctx context.Context, detach bool) error {
	return a.do(ctx, func() error {
		m, _ := a.db.Managers.Get(state.Self)
		if m.URL == "" {
			return errors.New("no account manager is followed")
		}
		err := a.db.Update(func(tx *state.Tx) {
			a.db.Managers.Delete(tx, state.Self)
			if h, ok := a.db.Hosts.Get(state.Self); ok && h.Prefs.Project == m.URL {
				h.Prefs = state.AccountPrefs{}
				a.db.Hosts.Put(tx, state.Self, h)
			}
		})
		if err != nil {
			return err
		}
		a.log.Info("account manager left", "manager", m.URL)
		return errors.Join(a.unmanage(detach), a.readFiles())
	})
}

// followManager asks the account manager when it wants to be.
func (a *Agent) followManager(now time.Time, w *waker) {
	m, ok := a.db.Managers.Get(state.Self)
	if !ok || a.manages || a.last.Snapshot.Network.Denied() {
		return
	}
	if now.Before(m.NextTry) {
		w.by(m.NextTry)
		return
	}
	a.askManager(m, nil)
}

// askManager begins a conversation with m. How it ended goes to done, if that is
// not nil, which has room for it.
func (a *Agent) askManager(m state.Manager, done chan<- error) {
	a.manages = true
	_, before := a.db.Managers.Get(state.Self)
	req := a.managerRequest(m, time.Now())
	a.log.Info("contacting account manager", "manager", m.URL)
	go func() {
		reply, err := a.sched.Manager(a.ctx, m.URL, req)
		a.post(func() {
			a.manages = false
			if _, still := a.db.Managers.Get(state.Self); before && !still {
				err = errors.New("the account manager was left meanwhile")
			} else {
				err = a.managerAnswered(m, reply, err, time.Now())
			}
			if done != nil {
				done <- err
			}
		})
	}()
}

// managerAnswered takes in how a conversation ended. A manager that was not
// followed before is only if it went well.
func (a *Agent) managerAnswered(m state.Manager, reply *protocol.ManagerReply, err error, now time.Time) error {
	followed, joined := a.db.Managers.Get(state.Self)
	if err != nil {
		if !joined || m.Login != followed.Login || m.PasswordHash != followed.PasswordHash {
			return err // somebody tried, and hears of it
		}
		refused, ok := errors.AsType[*protocol.AccountError](err)
		f := followed
		f.Failures++
		f.NextTry, f.Trouble, f.WrongPassword = acctmgr.Failed(now, f.Failures, a.rng), err.Error(), ok && refused.Num == protocol.ErrNumBadPassword
		a.log.Warn("account manager gave no usable answer, trying again; computing continues", "manager", m.URL, "at", f.NextTry, "error", err)
		a.save(func(tx *state.Tx) { a.db.Managers.Put(tx, state.Self, f) })
		return err
	}
	plan := acctmgr.Decide(m.SigningKey, a.judgeable(reply), a.managedProjects())
	if plan.Refused != "" && !joined {
		return fmt.Errorf("account manager %s: %s", m.URL, plan.Refused)
	}
	m = accepted(m, reply, plan.Refused, now)
	m.PreviousCPID = a.host.HostCPID
	again := m.NextTry
	m.NextTry = now // a crash in the middle has it asked again
	took := false
	if err := a.db.Update(func(tx *state.Tx) {
		a.db.Managers.Put(tx, state.Self, m)
		took = a.takePrefs(tx, m.URL, reply.GlobalPrefs, now)
	}); err != nil {
		return err
	}
	for _, text := range reply.Messages {
		a.log.Info("message from the account manager", "text", text)
	}
	err = a.obey(m, plan)
	m.NextTry = again
	a.save(func(tx *state.Tx) { a.db.Managers.Put(tx, state.Self, m) })
	if took {
		a.mergePrefs()
	}
	if plan.Refused != "" {
		err = errors.Join(err, errors.New(plan.Refused))
	}
	return err
}

// accepted is what is known of a manager after a reply.
func accepted(m state.Manager, r *protocol.ManagerReply, refused string, now time.Time) state.Manager {
	m.Last, m.Trouble, m.WrongPassword, m.Messages = now, refused, false, r.Messages
	m.Failures, m.NextTry = 0, acctmgr.Succeeded(now, r.Repeat)
	if refused != "" {
		return m
	}
	m.SigningKey, m.Dynamic = r.SigningKey, r.Dynamic
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
