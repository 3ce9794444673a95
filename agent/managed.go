package agent

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/acctmgr"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// managerRequest says to an account manager how things stand here.
func (a *Agent) managerRequest(m state.Manager, now time.Time) *protocol.ManagerRequest {
	platform, others := a.platforms()
	h, _ := a.db.Hosts.Get(state.Self)
	r := &protocol.ManagerRequest{
		Name: m.Login, PasswordHash: m.PasswordHash, Authenticator: m.Authenticator,
		HostCPID: a.host.HostCPID, PreviousCPID: m.PreviousCPID, DomainName: a.host.DomainName,
		Client: protocol.CompatVersion, RunMode: control.ModeName(h.RunMode.At(now)),
		Platform: platform, AltPlatforms: others,
		WorkingPrefs: a.prefs.XML(), GlobalPrefs: h.Prefs.XML, Opaque: m.Opaque,
		Host: a.host, TimeStats: a.timeStats(now),
	}
	for u, p := range a.db.Projects.All() {
		acc, disk := a.accounts[u], a.diskReport(u)
		v := protocol.ManagedProject{
			URL: u, Name: p.Name, HostID: p.HostID, Suspended: acc.Suspended, NoMoreWork: acc.NoMoreWork, Ended: p.Ending.Leaves(),
			ResourceShare: acc.ResourceShare, DiskUsage: disk.UsedProject, DiskShare: disk.ProjectShare,
			Failures: p.Contact.NRPCFailures, Succeeded: p.Estimates.Results, Wrong: p.Fetch.Errors,
		}
		if acc.Manager != nil {
			v.Managed, v.AccountKey, v.DetachWhenDone = true, acc.Authenticator, acc.Manager.DetachWhenDone
		}
		for _, res := range a.db.Results.Of(u) {
			switch _, plan, ok := a.last.Result(u, res.Name); {
			case !ok:
			case res.Started.IsZero():
				v.NotStarted += plan.Remaining
			default:
				v.InProgress += plan.Remaining
			}
		}
		r.Projects = append(r.Projects, v)
	}
	return r
}

// judgeable is a reply as the policy wants it: with addresses in their canonical
// form, and signatures verified.
func (a *Agent) judgeable(reply *protocol.ManagerReply) acctmgr.Reply {
	r := acctmgr.Reply{SigningKey: reply.SigningKey}
	key, errKey := protocol.ParsePublicKey(reply.SigningKey)
	for _, acc := range reply.Accounts {
		v := acctmgr.Account{
			URL: acc.URL, Forged: errKey, Authenticator: string(acc.Authenticator), Detach: acc.Detach, Update: acc.Update, Abort: acc.AbortNotStarted,
			DetachWhenDone: acc.DetachWhenDone != nil && *acc.DetachWhenDone,
			Terms:          acctmgr.Terms{Share: acc.ResourceShare, NoMoreWork: acc.NoMoreWork, Suspended: acc.Suspend},
		}
		if errKey == nil {
			v.Forged = key.VerifyText(acc.URL, acc.URLSignature)
		}
		if u, err := protocol.CanonicalMasterURL(acc.URL); err == nil {
			v.URL = u
		} else {
			v.Forged = err
		}
		if acc.NoCPU { // nothing else is computed on here
			yes := true
			v.Terms.NoMoreWork = &yes
		}
		r.Accounts = append(r.Accounts, v)
	}
	return r
}

func (a *Agent) managedProjects() (all []acctmgr.Project) {
	tasks := make(map[string]int)
	for _, r := range a.db.Results.All() {
		tasks[r.Project]++
	}
	for u, acc := range a.accounts {
		all = append(all, acctmgr.Project{URL: u, Authenticator: string(acc.Authenticator), Managed: acc.Manager != nil, Tasks: tasks[u]})
	}
	return all
}

// obey does what a reply comes to. Each step may be done again.
func (a *Agent) obey(m state.Manager, plan acctmgr.Plan) error {
	var errs []error
	var unwanted []move
	dir := a.cfg.DataDir
	manage := func(u string, attached bool, key string, t acctmgr.Terms) {
		errs = append(errs, settings.ChangeAccount(dir, u, func(o *settings.Override) {
			o.Manage(settings.Managed{
				URL: m.URL, Attached: attached, Authenticator: protocol.Authenticator(key),
				ResourceShare: t.Share, NoMoreWork: t.NoMoreWork, Suspended: t.Suspended, DetachWhenDone: t.DetachWhenDone,
			})
		}))
	}
	for _, n := range plan.Notes {
		a.log.Warn("account manager is not obeyed in this", "why", n)
	}
	for _, x := range plan.Attach {
		a.log.Info("attaching as the account manager says", "project", x.URL)
		err := settings.WriteAccount(dir, settings.Account{MasterURL: x.URL, Authenticator: protocol.Authenticator(x.Authenticator), ResourceShare: 100})
		if err != nil && !errors.Is(err, settings.ErrAttached) {
			errs = append(errs, err)
			continue
		}
		manage(x.URL, true, "", x.Terms)
	}
	for _, x := range plan.Detach {
		a.log.Info("detaching", "project", x.URL, "why", x.Why)
		errs = append(errs, settings.RemoveAccount(dir, x.URL))
	}
	for _, x := range plan.Keep {
		manage(x.URL, false, x.Authenticator, x.Terms)
		if x.Update {
			a.asked[x.URL] = true
		}
		for key, r := range a.db.Results.Of(x.URL) {
			if x.Abort && r.Started.IsZero() && r.Computing() && !r.ReadyToReport {
				unwanted = append(unwanted, aborted(key, r, "aborted by the account manager"))
			}
		}
	}
	a.moveAll(unwanted)
	return errors.Join(append(errs, a.readFiles())...)
}

// unmanage takes back what an account manager said of projects; with detach those
// go that it attached.
func (a *Agent) unmanage(detach bool) error {
	var errs []error
	for u, acc := range a.accounts {
		switch {
		case acc.Manager == nil:
		case detach && acc.Manager.Attached:
			errs = append(errs, settings.RemoveAccount(a.cfg.DataDir, u))
		default:
			errs = append(errs, settings.ChangeAccount(a.cfg.DataDir, u, func(o *settings.Override) { o.Manager = nil }))
		}
	}
	return errors.Join(errs...)
}
