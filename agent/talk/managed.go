package talk

import (
	"cmp"
	"errors"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide/acctmgr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// managerRequest builds the request to an account manager that describes this computer.
func (t *Talk) managerRequest(m state.Manager, now time.Time) *protocol.ManagerRequest {
	platform, others := t.Platforms()
	h, _ := t.DB.Hosts.Get(state.Self)
	r := &protocol.ManagerRequest{
		Name: m.Login, PasswordHash: m.PasswordHash, Authenticator: m.Authenticator,
		HostCPID: t.Host.HostCPID, PreviousCPID: m.PreviousCPID, DomainName: t.Host.DomainName,
		Client: protocol.CompatVersion, RunMode: control.ModeName(h.RunMode.At(now)),
		Platform: platform, AltPlatforms: others,
		WorkingPrefs: t.Prefs.XML(), GlobalPrefs: h.Prefs.XML, Opaque: m.Opaque,
		Host: t.Host, TimeStats: t.Uptime.Stats(now),
	}
	for u, p := range t.DB.Projects.All() {
		acc, disk := t.Accounts[u], t.Disk.Report(u, now)
		v := protocol.ManagedProject{
			URL: u, Name: p.Name, HostID: p.HostID, Suspended: acc.Suspended, NoMoreWork: acc.NoMoreWork, Ended: p.Ending.Leaves(),
			ResourceShare: acc.ResourceShare, DiskUsage: disk.UsedProject, DiskShare: disk.ProjectShare,
			Failures: p.Contact.NRPCFailures, Succeeded: p.Estimates.Results, Wrong: p.Fetch.Errors,
		}
		if acc.Manager != nil {
			v.Managed, v.AccountKey, v.DetachWhenDone = true, acc.Authenticator, acc.Manager.DetachWhenDone
		}
		for _, res := range t.DB.Results.Of(u) {
			switch _, plan, ok := t.Last.Result(u, res.Name); {
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

// toPolicy returns a reply in the form for the policy: with addresses in their canonical form, and
// signatures verified.
func (t *Talk) toPolicy(reply *protocol.ManagerReply) acctmgr.Reply {
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
		if acc.NoCPU { // there is no such setting for the CPUs alone
			yes := true
			v.Terms.NoMoreWork = &yes
		}
		r.Accounts = append(r.Accounts, v)
	}
	return r
}

func (t *Talk) managedProjects() (all []acctmgr.Project) {
	tasks := make(map[string]int)
	for _, r := range t.DB.Results.All() {
		tasks[r.Project]++
	}
	for u, acc := range t.Accounts {
		all = append(all, acctmgr.Project{URL: u, Authenticator: string(acc.Authenticator), Managed: acc.Manager != nil, Tasks: tasks[u]})
	}
	return all
}

// applyPlan carries out the plan from a reply. Each step may be repeated.
func (t *Talk) applyPlan(m state.Manager, plan acctmgr.Plan) error {
	var errs []error
	var unwanted []life.Move
	dir := t.Dir
	manage := func(u string, attached bool, key string, terms acctmgr.Terms) {
		errs = append(errs, settings.ChangeAccount(dir, u, func(o *settings.Override) {
			o.Manage(settings.Managed{
				URL: m.URL, Attached: attached, Authenticator: protocol.Authenticator(key),
				ResourceShare: terms.Share, NoMoreWork: terms.NoMoreWork, Suspended: terms.Suspended, DetachWhenDone: terms.DetachWhenDone,
			})
		}))
	}
	for _, n := range plan.Notes {
		t.Log.Warn("ignoring an instruction from the account manager", "why", n)
	}
	for _, x := range plan.Attach {
		t.Log.Info("attaching at the account manager's request", "project", x.URL)
		err := settings.WriteAccount(dir, settings.Account{MasterURL: x.URL, Authenticator: protocol.Authenticator(x.Authenticator), ResourceShare: 100})
		if err != nil && !errors.Is(err, settings.ErrAttached) {
			errs = append(errs, err)
			continue
		}
		manage(x.URL, true, "", x.Terms)
	}
	for _, x := range plan.Detach {
		t.Log.Info("detaching", "project", x.URL, "why", x.Why)
		errs = append(errs, settings.RemoveAccount(dir, x.URL))
	}
	for _, x := range plan.Keep {
		manage(x.URL, false, x.Authenticator, x.Terms)
		if x.Update {
			t.asked[x.URL] = true
		}
		for key, r := range t.DB.Results.Of(x.URL) {
			if x.Abort && r.Started.IsZero() && r.Computing() && !r.ReadyToReport {
				unwanted = append(unwanted, life.Aborted(key, r, outcome.AbortedByManager))
			}
		}
	}
	t.Life.MoveAll(unwanted...)
	errs = append(errs, t.Rules.ReadFiles())
	for _, x := range plan.Detach {
		t.Rules.EndedBy(x.URL, cmp.Or(m.Name, m.URL))
	}
	return errors.Join(errs...)
}

// unmanage removes an account manager's settings of projects. With detach, the projects that it
// attached are detached.
func (t *Talk) unmanage(detach bool) error {
	var errs []error
	for u, acc := range t.Accounts {
		switch {
		case acc.Manager == nil:
		case detach && acc.Manager.Attached:
			errs = append(errs, settings.RemoveAccount(t.Dir, u))
		default:
			errs = append(errs, settings.ChangeAccount(t.Dir, u, func(o *settings.Override) { o.Manager = nil }))
		}
	}
	return errors.Join(errs...)
}
