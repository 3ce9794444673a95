package validator

import (
	"time"

	"github.com/starling-grid/starling/server/store"
)

// A ledger gathers what hosts and users earn in one transaction, so that each of
// them is read and written once, however many of their results it is about.
type ledger struct {
	tx       *store.Tx
	hosts    map[int64]*hostEarning
	users    map[int64]*userEarning
	versions map[hostVersion]*versionEarning
	// In the order in which they were met first, so that transactions of several
	// processes take rows in one order as far as the workunits are in one.
	order []interface{ save(tx *store.Tx) error }
}

type hostVersion struct{ host, version int64 }

func newLedger(tx *store.Tx) *ledger {
	return &ledger{
		tx: tx, hosts: make(map[int64]*hostEarning), users: make(map[int64]*userEarning),
		versions: make(map[hostVersion]*versionEarning),
	}
}

// save stores everything. The ledger is closed then.
func (l *ledger) save() error {
	for _, e := range l.order {
		if err := e.save(l.tx); err != nil {
			return err
		}
	}
	return nil
}

type hostEarning struct {
	host   store.Host
	credit float64
	now    time.Time
}

func (e *hostEarning) save(tx *store.Tx) error {
	return tx.AddHostCredit(e.host.ID, e.credit, e.host.ExpavgCredit, e.now, e.host.AvgTurnaround)
}

type userEarning struct {
	user   store.User
	credit float64
	now    time.Time
}

func (e *userEarning) save(tx *store.Tx) error {
	return tx.AddUserCredit(e.user.ID, e.credit, e.user.ExpavgCredit, e.now)
}

// grant adds the credit of a result that was found valid to host and user. That
// this happens once a result is seen to by SaveResult.
func (l *ledger) grant(r store.Result, credit float64, now time.Time) error {
	h, ok := l.hosts[r.HostID]
	if !ok {
		host, err := l.tx.Host(r.HostID)
		if err != nil {
			return err
		}
		h = &hostEarning{host: host}
		l.hosts[r.HostID], l.order = h, append(l.order, h)
	}
	turnaround := r.ReceivedTime.Sub(r.SentTime).Seconds()
	if h.host.AvgTurnaround > 0 {
		turnaround = 0.7*h.host.AvgTurnaround + 0.3*turnaround
	}
	h.host.AvgTurnaround = turnaround
	h.host.ExpavgCredit = average(h.host.ExpavgCredit, h.host.ExpavgTime, now, credit)
	h.host.ExpavgTime, h.now, h.credit = now, now, h.credit+credit

	u, ok := l.users[r.UserID]
	if !ok {
		user, err := l.tx.User(r.UserID)
		if err != nil {
			return err
		}
		u = &userEarning{user: user}
		l.users[r.UserID], l.order = u, append(l.order, u)
	}
	u.user.ExpavgCredit = average(u.user.ExpavgCredit, u.user.ExpavgTime, now, credit)
	u.user.ExpavgTime, u.now, u.credit = now, now, u.credit+credit
	return nil
}

type versionEarning struct{ old, now store.HostAppVersion }

func (e *versionEarning) save(tx *store.Tx) error {
	if e.now == e.old {
		return nil
	}
	return tx.SaveHostAppVersion(e.now)
}

// version applies change to what the host of a result has earned with its app
// version. Results without a version are passed over.
func (l *ledger) version(r store.Result, change func(store.HostAppVersion) store.HostAppVersion) error {
	if r.HostID == 0 || r.AppVersionID == 0 {
		return nil
	}
	key := hostVersion{r.HostID, r.AppVersionID}
	v, ok := l.versions[key]
	if !ok {
		old, err := l.tx.HostAppVersion(r.HostID, r.AppVersionID)
		if err != nil {
			return err
		}
		v = &versionEarning{old, old}
		l.versions[key], l.order = v, append(l.order, v)
	}
	v.now = change(v.now)
	return nil
}
