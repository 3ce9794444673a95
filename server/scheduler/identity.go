package scheduler

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// errStranger is the error for a request without the key of an account.
var errStranger = errors.New("unknown account key")

// accounts has the database methods that identity uses.
type accounts interface {
	User(id int64) (store.User, error)
	UserByKey(key protocol.Authenticator) (store.User, error)
	Host(id int64) (store.Host, error)
	HostsOfUser(userID int64, limit int) ([]store.Host, error)
}

// An identity is the account and the host that sent a request.
type identity struct {
	user     store.User
	host     store.Host
	known    bool // host has a record (otherwise one has to be made)
	assigned bool // the client does not have the host's ID yet
	lost     bool // the host was recognized by its properties because its client started over
	missing  bool // it named a record that is not there
}

const (
	// maxHosts is the maximum number of an account's records that are searched for a computer that
	// sends no ID.
	maxHosts = 500
	maxHops  = 10
)

// identify finds the account and the host that sent a request. Source for the rules: BOINC
// sched/handle_request.cpp, authenticate_user.
func identify(db accounts, req *protocol.SchedulerRequest) (identity, error) {
	var id identity
	var err error
	if req.HostID == 0 {
		return newcomer(db, req, id)
	}
	id.host, id.assigned, err = follow(db, req.HostID)
	if errors.Is(err, store.ErrNotFound) {
		id.missing = true
		return newcomer(db, req, id)
	}
	if err != nil {
		return id, err
	}
	id.user, err = byKey(db, req.Authenticator)
	if err != nil {
		return id, err
	}
	if id.user.ID != id.host.UserID || req.RPCSeqno < id.host.RPCSeqno && !id.assigned {
		// Someone else's host, or a copy of its state that has fallen behind.
		return lookalike(db, req, id)
	}
	id.known = true
	return id, nil
}

// follow returns the host with an ID, or the host that it was merged into.
func follow(db accounts, id int64) (h store.Host, merged bool, err error) {
	for range maxHops {
		h, err = db.Host(id)
		if err != nil || h.UserID != 0 {
			return h, merged, err
		}
		id, merged = h.RPCSeqno, true
	}
	return h, merged, store.ErrNotFound
}

// byKey returns the account whose key or weak key this is.
func byKey(db accounts, key protocol.Authenticator) (store.User, error) {
	if number, _, weak := strings.Cut(string(key), "_"); weak {
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return store.User{}, errStranger
		}
		u, err := db.User(id)
		if errors.Is(err, store.ErrNotFound) {
			return u, errStranger
		}
		if err != nil {
			return u, err
		}
		want := protocol.WeakKey(u.ID, u.Authenticator, u.PasswdHash)
		if subtle.ConstantTimeCompare([]byte(want), []byte(key)) != 1 {
			return u, errStranger
		}
		return u, nil
	}
	u, err := db.UserByKey(key)
	if errors.Is(err, store.ErrNotFound) {
		return u, errStranger
	}
	return u, err
}

// newcomer handles a client without a host record: attached again perhaps.
func newcomer(db accounts, req *protocol.SchedulerRequest, id identity) (identity, error) {
	var err error
	if id.user, err = byKey(db, req.Authenticator); err != nil {
		return id, err
	}
	hosts, err := db.HostsOfUser(id.user.ID, maxHosts)
	if err != nil {
		return id, err
	}
	h := req.Host
	cpid := protocol.HostCPID(h.HostCPID, id.user.EmailAddr)
	for _, old := range hosts {
		if h.HostCPID != "" && old.HostCPID == cpid && old.NCPUs == h.NCPUs && old.Vendor == h.Vendor &&
			old.Model == h.Model && old.OSName == h.OSName && old.OSVersion == h.OSVersion {
			id.host, id.known, id.assigned, id.lost = old, true, true, true
			return id, nil
		}
	}
	return lookalike(db, req, id)
}

// lookalike looks for a newer record that seems to be of the same computer.
func lookalike(db accounts, req *protocol.SchedulerRequest, id identity) (identity, error) {
	id.known, id.assigned, id.host = false, true, store.Host{}
	if req.AllowMultipleClients || req.Host.DomainName == "" {
		return id, nil
	}
	hosts, err := db.HostsOfUser(id.user.ID, maxHosts)
	if err != nil {
		return id, err
	}
	h := req.Host
	for _, old := range hosts {
		if old.ID > req.HostID && old.DomainName == h.DomainName && old.LastIPAddr == h.IPAddr &&
			old.OSName == h.OSName && old.Model == h.Model && old.MemBytes == h.MemBytes {
			id.host, id.known, id.lost = old, true, true
			return id, nil
		}
	}
	return id, nil
}

// admit creates or updates the host's record and adds the account's data to the reply.
func (r *rpc) admit(id identity) error {
	r.user = id.user
	r.inProgress = maps.Clone(r.look.inProgress)
	if id.missing {
		r.reply.message(protocol.PriorityLow, "Can't find host record")
	}
	switch {
	case !id.known && r.user.Banned():
		return &bannedError{r.user}
	case !id.known:
		if err := r.crowded(); err != nil {
			return err
		}
		h := store.Host{
			CreateTime: r.now, UserID: r.user.ID, Venue: r.user.Venue,
			HostCPID: protocol.HostCPID(r.req.Host.HostCPID, r.user.EmailAddr),
		}
		n, err := r.tx.InsertHost(h)
		if err != nil {
			return err
		}
		h.ID = n
		r.host = h
	default:
		r.host, r.last = id.host, id.host.RPCTime
		if id.lost && !r.req.AllowMultipleClients && len(r.req.OtherResults) == 0 {
			if err := r.detachAll(); err != nil {
				return err
			}
		}
	}
	r.before = r.host
	r.host.RPCSeqno = r.req.RPCSeqno
	if id.assigned {
		// The client restarts its count when it receives an ID, so the ID is sent only now.
		r.reply.HostID, r.host.RPCSeqno = r.host.ID, 0
	}
	if day(r.host.RPCTime) != day(r.now) {
		r.host.NResultsToday, r.newDay = 0, true
	}
	r.recall()
	r.describeHost()
	r.describeReply()
	return nil
}

// A crowdError is the error for an account that has created too many hosts.
type crowdError struct {
	userID int64
	most   int
	wait   time.Duration
}

func (e *crowdError) Error() string {
	return fmt.Sprintf("Account %d has added %d computers within a day, which is the limit. This one can try again in %v. If all of them are yours, ask the project to raise max_hosts_per_user_day.",
		e.userID, e.most, e.wait.Round(time.Minute))
}

// A bannedError is the error for a banned account, which may not add computers.
type bannedError struct{ user store.User }

func (e *bannedError) Error() string { return banned(e.user) }

// banned returns the message for the owner of a banned account.
func banned(u store.User) string {
	if u.BanReason == "" {
		return "The project has banned your account: it gets no tasks"
	}
	return "The project has banned your account: it gets no tasks. The reason: " + u.BanReason
}

// crowded returns a crowdError if the account may not create another host now. Records cost the
// sender nothing, and each raises the amount of work that the account's hosts may have.
func (r *rpc) crowded() error {
	most := r.s.Config.MaxHostsPerUserDay
	if most <= 0 {
		return nil
	}
	hosts, err := r.tx.HostsOfUser(r.user.ID, most)
	if err != nil || len(hosts) < most {
		return err
	}
	if wait := hosts[most-1].CreateTime.Add(24 * time.Hour).Sub(r.now); wait > 0 {
		return &crowdError{r.user.ID, most, max(wait, time.Minute)}
	}
	return nil
}

// detachAll gives up the results that a host was computing before it lost its state, except those
// that it reports now.
func (r *rpc) detachAll() error {
	results, err := r.tx.InProgressOf(r.host.ID)
	if err != nil {
		return err
	}
	reported := make(map[string]bool)
	for i := range r.req.Results {
		reported[r.req.Results[i].Name] = true
	}
	var list []store.ResultChange
	for _, old := range results {
		if reported[old.Name] {
			continue
		}
		r.takeOff(old)
		x := old
		x.ServerState, x.Outcome, x.ReceivedTime = store.Over, store.ClientDetached, r.now
		list = append(list, store.ResultChange{Old: old, Now: x})
	}
	r.reply.took += len(list)
	r.move("the host lost its state and started over", list)
	return nil
}

// describeHost copies the host's description of itself into its record.
func (r *rpc) describeHost() {
	h, in, t := &r.host, r.req.Host, r.req.TimeStats
	h.RPCTime = r.now
	h.Client = fmt.Sprintf("%d.%d.%d", r.req.Client.Major, r.req.Client.Minor, r.req.Client.Release)
	if in.HostCPID != "" {
		h.HostCPID = protocol.HostCPID(in.HostCPID, r.user.EmailAddr)
	}
	h.Timezone, h.DomainName, h.LastIPAddr, h.ExternalIPAddr = in.Timezone, in.DomainName, in.IPAddr, r.ip
	h.OnFrac, h.ConnectedFrac, h.ActiveFrac = t.OnFrac, t.ConnectedFrac, t.ActiveFrac
	h.NCPUs, h.Vendor, h.Model = in.NCPUs, in.Vendor, in.Model
	h.Fpops, h.Iops, h.Membw = in.Fpops, in.Iops, in.Membw
	h.OSName, h.OSVersion = in.OSName, in.OSVersion
	h.MemBytes, h.CacheBytes, h.SwapBytes = in.MemBytes, in.CacheBytes, in.SwapBytes
	h.DiskTotal, h.DiskFree = in.DiskTotal, in.DiskFree
	h.UsedTotal, h.UsedProject = r.req.Disk.UsedTotal, r.req.Disk.UsedProject
	h.BwUp, h.BwDown = r.req.NetStats.BwUp, r.req.NetStats.BwDown
	h.Platforms = offered(platforms(r.req))
	h.UsableMemory, h.UsableDisk = r.memory, r.disk
	h.SetCoprocessors(coprocessors(r.req.Coprocs))
	h.Unsuited = strings.Join(match.Unsuited(r.req, &r.look.catalog.Catalog, r.s.Config.PlanClasses), " ")
}

// coprocessors returns the part of a host's description of its coprocessors that is stored.
func coprocessors(list []protocol.Coproc) (kept []store.Coproc) {
	for _, c := range list {
		x := store.Coproc{Kind: text(c.Kind), Name: text(c.Name), Count: c.Count, Memory: c.Memory, Driver: text(c.Version), PeakFlops: c.PeakFlops}
		if o := c.OpenCL; o != nil {
			if x.Name == "" {
				x.Name = text(o.Name)
			}
			if x.Driver == "" {
				x.Driver = text(o.DriverVersion)
			}
			if x.Memory == 0 {
				x.Memory = o.GlobalMem
			}
		}
		kept = append(kept, x)
	}
	return kept
}

// Limits for the part of a host's list of platforms that is stored.
const (
	maxPlatforms = 8
	maxPlatform  = 64 // bytes of a name (BOINC's longest has 25)
)

// offered joins platforms for the host's record. Names that no platform can have are
// left out.
func offered(platforms []string) string {
	var kept []string
	for _, p := range platforms {
		if p != "" && len(p) <= maxPlatform && !strings.ContainsFunc(p, unicode.IsSpace) && len(kept) < maxPlatforms {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}

func day(t time.Time) int64 { return t.Unix() / 86400 }

// nextDay returns the time when the next day starts.
func nextDay(t time.Time) time.Time { return time.Unix((day(t)+1)*86400, 0) }

func (r *rpc) describeReply() {
	u, h := r.user, r.host
	r.reply.host = h.ID
	r.reply.User = &protocol.ReplyUser{
		ID: u.ID, Name: u.Name, TotalCredit: u.TotalCredit, CreateTime: u.CreateTime,
		ExpavgCredit: credit.Decayed(u.ExpavgCredit, u.ExpavgTime, r.now),
		EmailHash:    protocol.EmailHash(u.EmailAddr), CrossProjectID: u.CrossProjectID,
		ExternalCPID: protocol.ExternalCPID(u.CrossProjectID, u.EmailAddr),
		TeamID:       r.look.team.ID, TeamName: r.look.team.Name,
	}
	r.reply.Host = &protocol.ReplyHost{
		TotalCredit: h.TotalCredit, CreateTime: h.CreateTime, ExpavgCredit: credit.Decayed(h.ExpavgCredit, h.ExpavgTime, r.now),
	}
	r.reply.Host.Venue = &h.Venue
	r.reply.GUIURLs, r.reply.Feeds = r.s.Config.GUIURLs, r.s.Config.Feeds
	r.reply.ProjectPrefs = u.ProjectPrefs
}
