package scheduler

import (
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// A look is what can be known of a request before its transaction, so that the
// writer, who does one thing at a time, need not wait for it. What the transaction
// changes it compares with the look and sets; if that fails, all begins anew.
type look struct {
	id      identity
	catalog *catalog
	named   map[string]store.Result // what the host reports and computes, as far as it is known
	lost    bool                    // results are on record that the host does not have
	mail    bool                    // messages wait for the host
	speeds  *speeds
	earned  map[int64]store.HostAppVersion // of the host, by app version; what changes it is read anew
	can     *match.Host                    // what the host can run; nil: not worked out
	offer   *offer                         // work for it; nil if it wants none

	aborts, abortsIfNotStarted []string
}

func (s *Scheduler) look(tx *store.Tx, r *rpc) (*look, error) {
	var l look
	var err error
	req := r.req
	if l.id, err = identify(tx, req); err != nil {
		return nil, err
	}
	if l.catalog, err = s.load(tx); err != nil {
		return nil, err
	}
	if l.speeds, err = s.learnt(tx, r.now); err != nil {
		return nil, err
	}
	if err := l.results(tx, req, s.Config.SendResultAbort); err != nil {
		return nil, err
	}
	if s.Config.SendResultAbort {
		if err := l.unwanted(tx, req); err != nil {
			return nil, err
		}
	}
	if l.id.known {
		mail, err := tx.MsgsToHost(l.id.host.ID, 1)
		if err != nil {
			return nil, err
		}
		l.mail = len(mail) > 0
		earned, err := tx.HostAppVersions(l.id.host.ID)
		if err != nil {
			return nil, err
		}
		l.earned = make(map[int64]store.HostAppVersion, len(earned))
		for _, h := range earned {
			l.earned[h.AppVersionID] = h
		}
		if err := l.losses(tx, req); err != nil {
			return nil, err
		}
	}
	// Last, as it leases what it finds.
	l.offer, err = s.seek(tx, r, &l)
	return &l, err
}

// results reads what the host names, at once.
func (l *look) results(tx *store.Tx, req *protocol.SchedulerRequest, others bool) error {
	list := make([]string, 0, len(req.Results)+len(req.OtherResults))
	for i := range req.Results {
		list = append(list, req.Results[i].Name)
	}
	if others {
		for i := range req.OtherResults {
			list = append(list, req.OtherResults[i].Name)
		}
	}
	var err error
	l.named, err = tx.ResultsByName(list)
	return err
}

// losses sees whether the host lacks something that it was sent.
func (l *look) losses(tx *store.Tx, req *protocol.SchedulerRequest) error {
	sent, err := tx.InProgressNames(l.id.host.ID)
	if err != nil || len(sent) == 0 {
		return err
	}
	have := make(map[string]bool, len(req.OtherResults)+len(req.Results))
	for _, o := range req.OtherResults {
		have[o.Name] = true
	}
	for _, r := range req.Results {
		have[r.Name] = true
	}
	for _, name := range sent {
		l.lost = l.lost || !have[name]
	}
	return nil
}

// unwanted finds what the host computes that is of no use any more.
func (l *look) unwanted(tx *store.Tx, req *protocol.SchedulerRequest) error {
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
