package validator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
)

// A ledger gathers the earnings of hosts and users in one transaction, so that each of them is read
// and written once, however many of their results it is about.
type ledger struct {
	tx       *store.Tx
	hosts    map[int64]*hostEarning
	users    map[int64]*userEarning
	versions map[hostVersion]*versionEarning
	energy   map[int64]store.CreditedEnergy // by application
}

type hostVersion struct{ host, version int64 }

func (k hostVersion) compare(o hostVersion) int {
	return cmp.Or(cmp.Compare(k.host, o.host), cmp.Compare(k.version, o.version))
}

// newLedger starts the transaction in which looks are stored. Hosts and users are the busiest rows,
// so they are handled first, before others change them.
func newLedger(tx *store.Tx, looks []*look) (*ledger, error) {
	l := &ledger{
		tx: tx, hosts: make(map[int64]*hostEarning), users: make(map[int64]*userEarning),
		versions: make(map[hostVersion]*versionEarning), energy: make(map[int64]store.CreditedEnergy),
	}
	var hostIDs, userIDs []int64
	keys := make(map[hostVersion]bool)
	for _, k := range looks {
		for _, s := range k.samples {
			if s.verdict == valid || s.verdict == invalid || s.verdict == broken {
				keys[hostVersion{s.result.HostID, s.result.AppVersionID}] = true
			}
			if s.verdict == valid && s.result.ValidateState != store.Valid {
				hostIDs, userIDs = append(hostIDs, s.result.HostID), append(userIDs, s.result.UserID)
			}
		}
	}
	hosts, err := tx.HostsToChange(hostIDs)
	if err != nil {
		return nil, err
	}
	users, err := tx.UsersToChange(userIDs)
	if err != nil {
		return nil, err
	}
	for id, h := range hosts {
		l.hosts[id] = &hostEarning{host: h}
	}
	for id, u := range users {
		l.users[id] = &userEarning{user: u}
	}
	return l, l.read(keys)
}

// read reads all the rows that will be needed, together.
func (l *ledger) read(keys map[hostVersion]bool) error {
	hosts, versions := make(map[int64]bool), make(map[int64]bool)
	for k := range keys {
		if k.host == 0 || k.version == 0 {
			continue
		}
		h := store.HostAppVersion{HostID: k.host, AppVersionID: k.version}
		l.versions[k] = &versionEarning{h, h}
		hosts[k.host], versions[k.version] = true, true
	}
	if len(hosts) == 0 {
		return nil
	}
	return l.tx.Ask(store.EachHostAppVersion(slices.Sorted(maps.Keys(hosts)), slices.Sorted(maps.Keys(versions)), func(h store.HostAppVersion) {
		if e := l.versions[hostVersion{h.HostID, h.AppVersionID}]; e != nil {
			e.old, e.now = h, h
		}
	}))
}

// save stores everything. The ledger is closed then.
func (l *ledger) save() error {
	for id, e := range l.hosts {
		if e.now.IsZero() {
			continue
		}
		if err := l.tx.AddHostCredit(id, e.credit, e.host.ExpavgCredit, e.now, e.host.AvgTurnaround); err != nil {
			return err
		}
	}
	teams := make(map[int64]float64)
	for id, e := range l.users {
		if e.now.IsZero() {
			continue
		}
		if e.user.TeamID != 0 {
			teams[e.user.TeamID] += e.credit
		}
		if err := l.tx.AddUserCredit(id, e.credit, e.user.ExpavgCredit, e.now); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(teams)) {
		if err := l.tx.AddTeamCredit(id, teams[id]); err != nil {
			return err
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(l.versions), hostVersion.compare) { // as every other transaction does
		e := l.versions[k]
		if e.now == e.old {
			continue
		}
		if err := l.tx.SaveHostAppVersion(e.now); err != nil {
			return err
		}
	}
	for _, app := range slices.Sorted(maps.Keys(l.energy)) { // last, since all validators add to the same rows
		if err := l.tx.AddCreditedEnergy(app, l.energy[app]); err != nil {
			return err
		}
	}
	return nil
}

// The time of an earning is zero as long as nothing was earned.
type hostEarning struct {
	host   store.Host
	credit float64
	now    time.Time
}

type userEarning struct {
	user   store.User
	credit float64
	now    time.Time
}

// grant adds the credit of a result that was found valid to host and user, and its energy to the sum of
// its application. That this happens once a result is seen to by SaveResult.
func (l *ledger) grant(r store.Result, amount float64, now time.Time) error {
	h, u := l.hosts[r.HostID], l.users[r.UserID]
	if h == nil || u == nil {
		return fmt.Errorf("result %s: its host or user no longer exists: %w", r.Name, store.ErrNotFound)
	}
	turnaround := r.ReceivedTime.Sub(r.SentTime).Seconds()
	if h.host.AvgTurnaround > 0 {
		turnaround = 0.7*h.host.AvgTurnaround + 0.3*turnaround
	}
	h.host.AvgTurnaround = turnaround
	h.host.ExpavgCredit = credit.Average(h.host.ExpavgCredit, h.host.ExpavgTime, now, amount)
	h.host.ExpavgTime, h.now, h.credit = now, now, h.credit+amount

	u.user.ExpavgCredit = credit.Average(u.user.ExpavgCredit, u.user.ExpavgTime, now, amount)
	u.user.ExpavgTime, u.now, u.credit = now, now, u.credit+amount
	if r.EnergyWh > 0 {
		l.energy[r.AppID] = l.energy[r.AppID].Plus(r.EnergyWh, amount)
	}
	return nil
}

type versionEarning struct{ old, now store.HostAppVersion }

// version applies change to the host's record with the app version of a result. Results without a
// version are skipped.
func (l *ledger) version(r store.Result, change func(store.HostAppVersion) store.HostAppVersion) error {
	if r.HostID == 0 || r.AppVersionID == 0 {
		return nil
	}
	v, err := l.earning(r)
	if err != nil {
		return err
	}
	v.now = change(v.now)
	return nil
}

func (l *ledger) earning(r store.Result) (*versionEarning, error) {
	key := hostVersion{r.HostID, r.AppVersionID}
	if v, ok := l.versions[key]; ok {
		return v, nil
	}
	old, err := l.tx.HostAppVersion(r.HostID, r.AppVersionID)
	if err != nil {
		return nil, err
	}
	v := &versionEarning{old, old}
	l.versions[key] = v
	return v, nil
}

// benchmark returns the speed for a result according to the benchmark of its host, in operations a
// second, or 0 if it is unknown.
func (l *ledger) benchmark(r store.Result) (float64, error) {
	v, err := l.earning(r)
	if err != nil {
		return 0, err
	}
	if f := v.now.BenchmarkFlops; f > 0 {
		return f, nil
	}
	if h := l.hosts[r.HostID]; h != nil {
		return max(0, h.host.Fpops), nil
	}
	return 0, nil
}
