package view

import (
	"strconv"
	"time"

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
)

// Hosts lists computers.
var Hosts = &Listing{
	Short: "List computers",
	Long: "List the newest computers that all flags apply to. ERRORS is the share of recent results that were no good, of the\n" +
		"worst application version.",
	None: "No computers.",
	Columns: []Column{
		{"ID", OfHost},
		{"Name", ""},
		{"Account", OfUser},
		{"State", ""},
		{"Client", ""},
		{"CPUs", ""},
		{"System", ""},
		{"Address", ""},
		{"Credit", ""},
		{"Recent", ""},
		{"Errors", ""},
		{"Last contact", ""},
	},
	Filters: []Filter{
		{Name: "user", About: "only of this account, by number or e-mail address"},
		{Name: "banned", Type: Switch, About: "only banned ones"},
		{Name: "active", Type: Age, About: "only those that contacted the project within this time, for example 12h or 7d"},
		newest,
	},
	find: findHosts,
}

// A HostSummary is a computer in a list.
type HostSummary struct {
	ID            int64     `json:"id"`
	UserID        int64     `json:"userid"`
	DomainName    string    `json:"domain_name"`
	State         string    `json:"state"` // active or banned
	Client        string    `json:"client_version,omitempty"`
	OSName        string    `json:"os_name"`
	Model         string    `json:"p_model"`
	NCPUs         int       `json:"p_ncpus"`
	External      string    `json:"external_ip_addr"`
	TotalCredit   float64   `json:"total_credit"`
	ExpavgCredit  float64   `json:"expavg_credit"`
	AvgTurnaround float64   `json:"avg_turnaround"` // seconds
	ErrorRate     float64   `json:"error_rate"`     // the highest of its app versions
	LastContact   time.Time `json:"rpc_time,omitzero"`
	CreateTime    time.Time `json:"create_time"`
}

func summary(h store.Host, now time.Time) HostSummary {
	v := HostSummary{
		ID: h.ID, UserID: h.UserID, DomainName: h.DomainName, State: "active", Client: h.Client, OSName: h.OSName, Model: h.Model,
		NCPUs: h.NCPUs, External: h.ExternalIPAddr, TotalCredit: h.TotalCredit,
		ExpavgCredit:  credit.Decayed(h.ExpavgCredit, h.ExpavgTime, now),
		AvgTurnaround: h.AvgTurnaround, LastContact: UTC(h.RPCTime), CreateTime: UTC(h.CreateTime),
	}
	if h.MaxResultsDay < 0 {
		v.State = "banned"
	}
	return v
}

func findHosts(tx *store.View, q Query, now time.Time) (List, error) {
	r := &reader{q: q, now: now}
	f := store.HostFilter{UserID: r.userID(tx), Excluded: r.on("banned"), Since: r.ago("active"), Limit: r.limit()}
	if r.err != nil {
		return List{}, r.err
	}
	views, err := hosts(tx, f, now)
	list := List{Of: views}
	for _, v := range views {
		list.Rows = append(list.Rows, []any{
			v.ID, v.DomainName, v.UserID, v.State, v.Client, v.NCPUs, v.OSName, v.External,
			v.TotalCredit, v.ExpavgCredit, v.ErrorRate, v.LastContact,
		})
	}
	return list, err
}

// hosts summarizes the computers that a filter lets through.
func hosts(tx *store.View, f store.HostFilter, now time.Time) ([]HostSummary, error) {
	found, err := tx.ListHosts(f)
	views := []HostSummary{}
	for _, h := range found {
		v := summary(h, now)
		earned, err := tx.HostAppVersions(h.ID)
		if err != nil {
			return nil, err
		}
		for _, e := range earned {
			v.ErrorRate = max(v.ErrorRate, e.ErrorRate)
		}
		views = append(views, v)
	}
	return views, err
}

// A Host is all that is known of a computer.
type Host struct {
	ID             int64          `json:"id"`
	UserID         int64          `json:"userid"`
	State          string         `json:"state"` // active or banned
	DomainName     string         `json:"domain_name"`
	Client         string         `json:"client_version"`
	LastIPAddr     string         `json:"last_ip_addr"`
	ExternalIPAddr string         `json:"external_ip_addr"`
	CreateTime     time.Time      `json:"create_time"`
	RPCTime        time.Time      `json:"rpc_time"`
	RPCSeqno       int64          `json:"rpc_seqno"`
	NCPUs          int            `json:"p_ncpus"`
	Model          string         `json:"p_model"`
	Fpops          float64        `json:"p_fpops"`
	MemBytes       float64        `json:"m_nbytes"`
	DiskFree       float64        `json:"d_free"`
	OSName         string         `json:"os_name"`
	OSVersion      string         `json:"os_version"`
	TotalCredit    float64        `json:"total_credit"`
	ExpavgCredit   float64        `json:"expavg_credit"`
	AvgTurnaround  float64        `json:"avg_turnaround"` // seconds
	MaxResultsDay  int            `json:"max_results_day"`
	NResultsToday  int            `json:"nresults_today"`
	AppVersions    []HostVersion  `json:"app_versions"`
	Coprocs        []store.Coproc `json:"coprocs"`
	Files          []HeldFile     `json:"files"`
	FileOrders     int            `json:"file_orders"` // that its client obeys them, see store.Host
	Results        []Result       `json:"results"`     // the latest
}

// A HeldFile is a file that a computer keeps for the project.
type HeldFile struct {
	HostID int64   `json:"host_id"`
	Name   string  `json:"name"`
	NBytes float64 `json:"nbytes"`
}

// latest is the number of a computer's results that are shown.
const latest = 20

// HostBy shows the computer with a number, or returns store.ErrNotFound. kind returns the kind of
// processor of a plan class.
func HostBy(tx *store.View, id string, kind func(planClass string) string, now time.Time) (*Host, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, store.ErrNotFound
	}
	h, err := tx.Host(n)
	if err != nil {
		return nil, err
	}
	s := summary(h, now)
	v := &Host{
		ID: h.ID, UserID: h.UserID, State: s.State, DomainName: h.DomainName, Client: h.Client, LastIPAddr: h.LastIPAddr,
		ExternalIPAddr: h.ExternalIPAddr, CreateTime: s.CreateTime, RPCTime: s.LastContact, RPCSeqno: h.RPCSeqno, NCPUs: h.NCPUs,
		Model: h.Model, Fpops: h.Fpops, MemBytes: h.MemBytes, DiskFree: h.DiskFree, OSName: h.OSName, OSVersion: h.OSVersion,
		TotalCredit: h.TotalCredit, ExpavgCredit: s.ExpavgCredit, AvgTurnaround: h.AvgTurnaround, MaxResultsDay: h.MaxResultsDay,
		NResultsToday: h.NResultsToday, Coprocs: h.Coprocessors(), FileOrders: h.FileOrders, Files: []HeldFile{}, Results: []Result{},
	}
	if v.Coprocs == nil {
		v.Coprocs = []store.Coproc{}
	}
	if v.AppVersions, err = hostVersions(tx, h.ID, kind); err != nil {
		return nil, err
	}
	files, err := tx.HostFiles(h.ID)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		v.Files = append(v.Files, HeldFile(f))
	}
	c, err := readCatalog(tx)
	if err != nil {
		return nil, err
	}
	results, _, err := tx.ListResults(store.ResultFilter{HostID: h.ID, Limit: latest})
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		of := viewResult(r)
		of.StderrOut = ""
		of.describe(c, r)
		history, err := tx.ResultHistory(r.ID)
		if err != nil {
			return nil, err
		}
		of.History = viewHistory("", history)
		v.Results = append(v.Results, of)
	}
	return v, nil
}
