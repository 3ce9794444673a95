package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A look has the data about a request. Values that the request changes are compared with the look and set. If
// the comparison fails, the whole request is processed again.
type look struct {
	id         identity
	catalog    *catalog
	named      map[string]store.Result // known results that the host reports and computes, and more
	lost       bool                    // results are on record that the host does not have
	inProgress map[string]int          // results that the host has, by plan class, if they are limited
	mail       bool                    // messages wait for the host
	speeds     *speeds
	earned     map[int64]store.HostAppVersion // of the host, by app version
	kept       []reservation                  // results that are kept for the host
	chained    time.Time                      // of its last report after which work follows that waits for the outcome, or zero
	team       store.Team                     // of the account, empty without one

	aborts, abortsIfNotStarted []string
	aborted                    map[int64]store.Workunit // of results that the host reports as aborted by the project

	awaited  []string        // files that the host was ordered to send
	uploaded map[string]bool // the ones that have arrived
}

// look reads all that is needed to decide on requests, except on rare ones, and finds work for them.
func (s *Scheduler) look(v *store.View, list []*rpc) error {
	if err := senders(v, list); err != nil {
		return err
	}
	if err := s.read(v, list); err != nil {
		return err
	}
	var common []*rpc
	each(list, func(r *rpc) error {
		if r.rare() {
			return nil
		}
		common = append(common, r)
		return r.begin()
	})
	return s.search(v, common)
}

// senders identifies the senders of requests. Nearly always these are the host and the account that a
// request names, so these are read first.
func senders(v *store.View, list []*rpc) error {
	db := atHand{v, make(map[int64]store.Host), make(map[protocol.Authenticator]store.User)}
	var ids []int64
	var keys []string
	for _, r := range list {
		if r.req.HostID != 0 {
			ids, keys = append(ids, r.req.HostID), append(keys, string(r.req.Authenticator))
		}
	}
	if err := v.Ask(
		store.HostsByID(ids, func(h store.Host) { db.hosts[h.ID] = h }),
		store.UsersByKey(keys, func(u store.User) { db.users[u.Authenticator] = u }),
	); err != nil {
		return err
	}
	each(list, func(r *rpc) (err error) {
		r.look.id, err = identify(db, r.req)
		return err
	})
	return nil
}

// atHand are accounts with the hosts and users that some requests name.
type atHand struct {
	accounts
	hosts map[int64]store.Host
	users map[protocol.Authenticator]store.User
}

func (n atHand) Host(id int64) (store.Host, error) {
	if h, ok := n.hosts[id]; ok {
		return h, nil
	}
	return n.accounts.Host(id)
}

func (n atHand) UserByKey(key protocol.Authenticator) (store.User, error) {
	if u, ok := n.users[key]; ok {
		return u, nil
	}
	return n.accounts.UserByKey(key)
}

// read reads the looks of requests whose senders are known.
func (s *Scheduler) read(v *store.View, list []*rpc) error {
	var stamp int64
	var names []string
	var hosts, limited, teams []int64
	results, byTeam := make(map[string]store.Result), make(map[int64]store.Team)
	of := make(map[int64][]*look) // by host
	sent := make(map[int64][]string)
	var more []store.Question
	for _, r := range list {
		if r.err != nil {
			continue
		}
		l := r.look
		l.named = results
		for i := range r.req.Results {
			names = append(names, r.req.Results[i].Name)
		}
		for i := range r.req.OtherResults {
			names = append(names, r.req.OtherResults[i].Name)
		}
		if id := l.id.user.TeamID; id != 0 && !slices.Contains(teams, id) {
			teams = append(teams, id)
		}
		if !l.id.known {
			continue
		}
		id := l.id.host.ID
		if of[id] == nil {
			hosts = append(hosts, id)
		}
		of[id] = append(of[id], l)
		if s.Config.limitsInProgress(l.id.user, l.id.host) {
			l.inProgress = make(map[string]int)
			if !slices.Contains(limited, id) {
				limited = append(limited, id)
			}
		}
		if len(r.held) > 0 {
			more = append(more, l.reservations(id)...)
		}
	}
	if err := v.Ask(append(
		more,
		store.AppsStamp(func(n int64) { stamp = n }),
		store.ResultsByName(names, func(x store.Result) { results[x.Name] = x }),
		store.TeamsByID(teams, func(t store.Team) { byTeam[t.ID] = t }),
		store.HostsWithMsgs(hosts, func(host int64) {
			for _, l := range of[host] {
				l.mail = true
			}
		}),
		store.HostAppVersionsOf(hosts, func(h store.HostAppVersion) {
			for _, l := range of[h.HostID] {
				l.earned[h.AppVersionID] = h
			}
		}),
		store.InProgressNames(hosts, func(h store.Held) { sent[h.HostID] = append(sent[h.HostID], h.Name) }),
		store.CountInProgress(limited, func(c store.Count) {
			for _, l := range of[c.HostID] {
				if l.inProgress != nil {
					l.inProgress[c.PlanClass] += c.N
				}
			}
		}),
	)...); err != nil {
		return err
	}
	catalog, err := s.load(v, stamp)
	if err != nil {
		return err
	}
	each(list, func(r *rpc) (err error) {
		l := r.look
		l.catalog, l.team, l.lost = catalog, byTeam[l.id.user.TeamID], lacks(r.req, sent[l.id.host.ID])
		if l.speeds, err = s.learnt(v, r.now); err != nil {
			return err
		}
		return l.orders(v)
	})
	return s.workunits(v, list)
}

// orders reads which files the host was ordered to send, if it has orders, which is rare.
func (l *look) orders(v *store.View) error {
	if !l.id.known || l.id.host.FileOrders == 0 {
		return nil
	}
	orders, err := v.FileOrders(l.id.host.ID, maxFileOrders)
	for _, o := range orders {
		if o.Action == store.FileGet {
			l.awaited = append(l.awaited, o.Name)
		}
	}
	return err
}

// workunits reads the workunits of results that hosts report or compute, where they matter.
func (s *Scheduler) workunits(v *store.View, list []*rpc) error {
	var ids []int64
	for _, r := range list {
		if r.err != nil {
			continue
		}
		if len(r.held) > 0 {
			ids = append(ids, r.reported()...)
		}
		ids = append(ids, r.aborted()...)
		if s.Config.SendResultAbort {
			ids = append(ids, r.computing()...)
		}
	}
	workunits := make(map[int64]store.Workunit)
	if err := v.Ask(store.WorkunitsByID(ids, func(wu store.Workunit) { workunits[wu.ID] = wu })); err != nil {
		return err
	}
	each(list, func(r *rpc) error {
		r.look.aborted = workunits
		if len(r.held) > 0 {
			if err := r.chain(v, workunits); err != nil {
				return err
			}
		}
		if s.Config.SendResultAbort {
			r.look.unwanted(r.req, workunits)
		}
		return nil
	})
	return nil
}

// computing returns the workunits of results that the host computes.
func (r *rpc) computing() (ids []int64) {
	for i := range r.req.OtherResults {
		if x, ok := r.look.named[r.req.OtherResults[i].Name]; ok && x.UserID == r.look.id.user.ID {
			ids = append(ids, x.WorkunitID)
		}
	}
	return ids
}

// aborted returns the workunits of results that the host reports as aborted by the project.
func (r *rpc) aborted() (ids []int64) {
	for i := range r.req.Results {
		if x, ok := r.look.named[r.req.Results[i].Name]; ok && r.req.Results[i].ExitStatus == protocol.ExitAbortedByProject {
			ids = append(ids, x.WorkunitID)
		}
	}
	return ids
}

// arrivals looks which of the files that the host was ordered to send have come. It holds
// no transaction: where files lie may be slow, or away.
func (l *look) arrivals(ctx context.Context, s *Scheduler) {
	if s.Uploaded == nil || len(l.awaited) == 0 {
		return
	}
	l.uploaded = make(map[string]bool)
	for _, name := range l.awaited {
		there, err := s.Uploaded(ctx, name)
		if err != nil {
			s.Log.Error("can't look for an ordered file", "file", name, "hostid", l.id.host.ID, "err", err)
		}
		l.uploaded[name] = there
	}
}

// lacks reports whether the host lacks any of the results that were sent to it.
func lacks(req *protocol.SchedulerRequest, sent []string) bool {
	if len(sent) == 0 {
		return false
	}
	have := make(map[string]bool, len(req.OtherResults)+len(req.Results))
	for i := range req.OtherResults {
		have[req.OtherResults[i].Name] = true
	}
	for i := range req.Results {
		have[req.Results[i].Name] = true
	}
	return slices.ContainsFunc(sent, func(name string) bool { return !have[name] })
}

// unwanted finds results that the host computes and that are no longer of use.
func (l *look) unwanted(req *protocol.SchedulerRequest, workunits map[int64]store.Workunit) {
	for i := range req.OtherResults {
		name := req.OtherResults[i].Name
		x, ok := l.named[name]
		if !ok || x.UserID != l.id.user.ID {
			l.aborts = append(l.aborts, name)
			continue
		}
		if x.ServerState == store.Over && x.Outcome == store.DidntNeed {
			l.aborts = append(l.aborts, name) // it was taken back, with the app version that it was sent with
			continue
		}
		if x.ServerState == store.Over && x.Outcome != store.NoReply && x.Outcome != store.ClientDetached {
			continue // reported in an earlier request, and the client has yet to see the acknowledgement
		}
		wu := workunits[x.WorkunitID]
		switch {
		case wu.ErrorMask&store.ErrorCancelled != 0:
			l.aborts = append(l.aborts, name)
		case wu.AssimilateState == store.AssimilateDone || x.ServerState == store.Over:
			l.abortsIfNotStarted = append(l.abortsIfNotStarted, name)
		}
	}
}
