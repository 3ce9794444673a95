package view

import (
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
)

// A Page is what the dashboard shows, as of one instant.
type Page struct {
	Status      control.Status                `json:"status"`
	Compute     prefs.Permission              `json:"compute"`
	Network     prefs.Permission              `json:"network"`
	RunUntil    time.Time                     `json:"run_until,omitzero"`     // then the mode is auto again; zero: until changed
	NetUntil    time.Time                     `json:"network_until,omitzero"` // likewise
	CPUs        int                           `json:"cpus"`                   // that may be used now
	AllCPUs     int                           `json:"all_cpus"`
	Memory      int64                         `json:"memory"`                    // bytes that tasks may use; 0: no limit
	Temperature float64                       `json:"cpu_temperature,omitempty"` // °C of the hottest sensor; 0: not known
	Plans       map[string]decide.ProjectPlan `json:"plans"`                     // by master URL
	Credit      map[string][]Day              `json:"credit"`                    // by master URL, oldest first
}

// A Day is the credit that the account and this computer had at its end.
type Day struct {
	Day  time.Time `json:"day"` // its start, UTC
	User float64   `json:"user"`
	Host float64   `json:"host"`
}

// Dashboard is what the dashboard shows: the status, with the reasons of the last
// pass and the credit of the last days.
func (f *Facts) Dashboard() Page {
	s, h := f.Last.Snapshot, f.host()
	v := Page{
		Status: f.Status(), Compute: s.Compute, Network: s.Network,
		RunUntil: h.RunMode.Until, NetUntil: h.NetMode.Until,
		CPUs: s.CPUs, AllCPUs: s.AllCPUs, Memory: s.Memory, Temperature: f.Conditions.Temperature,
		Plans: make(map[string]decide.ProjectPlan), Credit: make(map[string][]Day),
	}
	for u, p := range f.DB.Projects.All() {
		v.Plans[u] = f.Last.Project(u)
		for _, c := range p.Statistics {
			v.Credit[u] = append(v.Credit[u], Day{Day: c.Day, User: c.UserTotal, Host: c.HostTotal})
		}
	}
	return v
}
