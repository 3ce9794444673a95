package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A look has the data about a request. Values that the request changes are compared with the look and set. If
// the comparison fails, the whole request is processed again.
type look struct {
	id         identity
	stamp      int64 // of the catalog
	catalog    *catalog
	named      map[string]store.Result // known results that the host reports and computes
	lost       bool                    // results are on record that the host does not have
	inProgress map[string]int          // results that the host has, by plan class, if they are limited
	mail       bool                    // messages wait for the host
	speeds     *speeds
	earned     map[int64]store.HostAppVersion // of the host, by app version
	kept       []reservation                  // results that are kept for the host
	chained    time.Time                      // of its last report after which work follows that waits for the outcome, or zero
	team       store.Team                     // of the account, empty without one

	aborts, abortsIfNotStarted []string

	awaited  []string        // files that the host was ordered to send
	uploaded map[string]bool // the ones that have arrived
}

func (s *Scheduler) look(tx *store.View, r *rpc) (*look, error) {
	var l look
	var err error
	req := r.req
	if l.id, err = s.senderOf(tx, req); err != nil {
		return nil, err
	}
	if err := l.read(tx, s, req); err != nil {
		return nil, err
	}
	if l.catalog, err = s.load(tx, l.stamp); err != nil {
		return nil, err
	}
	if l.speeds, err = s.learnt(tx, r.now); err != nil {
		return nil, err
	}
	if err := l.reservations(tx, r); err != nil {
		return nil, err
	}
	if s.Config.SendResultAbort {
		if err := l.unwanted(tx, req); err != nil {
			return nil, err
		}
	}
	return &l, nil
}

// senderOf identifies the sender of a request. Nearly always that is the host and the account that
// it names, so these are read first, together.
func (s *Scheduler) senderOf(tx *store.View, req *protocol.SchedulerRequest) (identity, error) {
	db := known{accounts: tx}
	if req.HostID != 0 {
		if err := tx.Together(
			func() error { db.host, db.hostErr = tx.Host(req.HostID); return passing(db.hostErr) },
			func() error { db.user, db.userErr = tx.UserByKey(req.Authenticator); return passing(db.userErr) },
		); err != nil {
			return identity{}, err
		}
		db.hostID, db.key = req.HostID, req.Authenticator
	}
	return identify(&db, req)
}

// known has a host and a user at hand.
type known struct {
	accounts
	hostID           int64
	host             store.Host
	key              protocol.Authenticator
	user             store.User
	hostErr, userErr error
}

func (k *known) Host(id int64) (store.Host, error) {
	if k.hostID != 0 && id == k.hostID {
		return k.host, k.hostErr
	}
	return k.accounts.Host(id)
}

func (k *known) UserByKey(key protocol.Authenticator) (store.User, error) {
	if k.hostID != 0 && key == k.key {
		return k.user, k.userErr
	}
	return k.accounts.UserByKey(key)
}

// passing is an error but ErrNotFound, which is an answer.
func passing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// read reads all the data for the request, together.
func (l *look) read(tx *store.View, s *Scheduler, req *protocol.SchedulerRequest) error {
	list := make([]string, 0, len(req.Results)+len(req.OtherResults))
	for i := range req.Results {
		list = append(list, req.Results[i].Name)
	}
	for i := range req.OtherResults {
		list = append(list, req.OtherResults[i].Name)
	}
	asks := []func() error{
		func() (err error) { l.stamp, err = tx.AppsStamp(); return err },
		func() (err error) { l.named, err = tx.ResultsByName(list); return err },
	}
	if id := l.id.user.TeamID; id != 0 {
		asks = append(asks, func() (err error) { l.team, err = tx.Team(id); return passing(err) })
	}
	var mail []store.MsgToHost
	var earned []store.HostAppVersion
	var sent []string
	var orders []store.FileOrder
	if id := l.id.host.ID; l.id.known {
		asks = append(
			asks,
			func() (err error) { mail, err = tx.MsgsToHost(id, 1); return err },
			func() (err error) { earned, err = tx.HostAppVersions(id); return err },
			func() (err error) { sent, err = tx.InProgressNames(id); return err },
		)
		if s.Config.limitsInProgress(l.id.user, l.id.host) {
			asks = append(asks, func() (err error) { l.inProgress, err = tx.CountInProgress(id); return err })
		}
		if l.id.host.FileOrders > 0 {
			asks = append(asks, func() (err error) { orders, err = tx.FileOrders(id, maxFileOrders); return err })
		}
	}
	if err := tx.Together(asks...); err != nil {
		return err
	}
	l.mail, l.lost = len(mail) > 0, lacks(req, sent)
	l.earned = make(map[int64]store.HostAppVersion, len(earned))
	for _, h := range earned {
		l.earned[h.AppVersionID] = h
	}
	for _, o := range orders {
		if o.Action == store.FileGet {
			l.awaited = append(l.awaited, o.Name)
		}
	}
	return nil
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
func (l *look) unwanted(tx *store.View, req *protocol.SchedulerRequest) error {
	var ids []int64
	for i := range req.OtherResults {
		if x, ok := l.named[req.OtherResults[i].Name]; ok && x.UserID == l.id.user.ID {
			ids = append(ids, x.WorkunitID)
		}
	}
	workunits, err := tx.Workunits(ids)
	if err != nil {
		return err
	}
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
	return nil
}
