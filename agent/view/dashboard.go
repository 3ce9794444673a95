package view

import (
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
)

// A Page is the content of the dashboard, as of one instant.
type Page struct {
	Status      control.Status                `json:"status"`
	Compute     prefs.Permission              `json:"compute"`
	Network     prefs.Permission              `json:"network"`
	RunUntil    time.Time                     `json:"run_until,omitzero"`     // then the mode is auto again (zero: until changed)
	NetUntil    time.Time                     `json:"network_until,omitzero"` // likewise
	GPUMode     string                        `json:"gpu_mode"`               // always, auto or never
	GPUUntil    time.Time                     `json:"gpu_until,omitzero"`     // likewise
	CPUs        int                           `json:"cpus"`                   // that may be used now
	AllCPUs     int                           `json:"all_cpus"`
	Memory      int64                         `json:"memory"`                        // bytes that tasks may use (0: no limit)
	Temperature float64                       `json:"cpu_temperature,omitempty"`     // °C of the hottest sensor (0 if unknown)
	Ceiling     float64                       `json:"max_cpu_temperature,omitempty"` // °C above which computing pauses (0: no limit)
	Heat        []Heat                        `json:"cpu_temperatures,omitempty"`    // of the last day, oldest first (none: not measured)
	GPUHeat     []Heat                        `json:"gpu_temperatures,omitempty"`    // of the hottest GPU that tasks may use, likewise
	Battery     string                        `json:"on_batteries,omitempty"`        // yes or no ("" if unknown)
	Metered     string                        `json:"network_metered,omitempty"`     // likewise
	Host        Host                          `json:"host"`
	Disk        DiskUse                       `json:"disk"`
	Platforms   []string                      `json:"platforms"` // whose programs can be run, the computer's own first
	Plans       map[string]decide.ProjectPlan `json:"plans"`     // by master URL
	Credit      map[string][]Day              `json:"credit"`    // by master URL, oldest first
}

// Heat is the highest temperature of a processor in some minutes.
type Heat struct {
	Start   time.Time `json:"start"`
	Celsius float64   `json:"celsius"`
}

// A Host describes the computer.
type Host struct {
	Name   string  `json:"name"`
	Model  string  `json:"model"` // of its CPUs
	System string  `json:"system"`
	Memory int64   `json:"memory"`          // bytes
	Fpops  float64 `json:"fpops,omitempty"` // operations a second and CPU (0: not measured)
}

// DiskUse is the size of the disk and its use, in bytes.
type DiskUse struct {
	Total    int64            `json:"total"`
	Free     int64            `json:"free"`
	Used     int64            `json:"used"`     // by the agent and its projects (negative: not measured yet)
	Allowed  int64            `json:"allowed"`  // of that, by the preferences
	Projects map[string]int64 `json:"projects"` // used by each, by master URL
}

// A Day is the credit that the account and this computer had at its end.
type Day struct {
	Day     time.Time `json:"day"` // its start, UTC
	User    float64   `json:"user"`
	Host    float64   `json:"host"`
	UserRAC float64   `json:"user_rac"` // recent average credit, a day
	HostRAC float64   `json:"host_rac"`
}

// Dashboard returns the content of the dashboard: the status, with the reasons of the last pass and
// the credit of the last days. It lacks the disk use of each project and the Heat.
func (f *Facts) Dashboard() Page {
	s, h := f.Last.Snapshot, f.host()
	v := Page{
		Status: f.Status(), Compute: s.Compute.In(f.Language), Network: s.Network.In(f.Language),
		RunUntil: h.RunMode.Until, NetUntil: h.NetMode.Until,
		GPUMode: control.ModeName(h.GPUMode.Kind), GPUUntil: h.GPUMode.Until,
		CPUs: s.CPUs, AllCPUs: s.AllCPUs, Memory: s.Memory, Temperature: f.Conditions.Temperature, Ceiling: f.Prefs.TemperatureCeiling,
		Battery: sensedAs(f.Conditions.Battery), Metered: sensedAs(f.Conditions.Metered),
		Host: Host{
			Name: f.Host.DomainName, Model: f.Host.Model, System: f.Host.OSName + " " + f.Host.OSVersion,
			Memory: int64(f.Host.MemBytes), Fpops: h.Fpops,
		},
		Disk:      DiskUse{Total: int64(f.Host.DiskTotal), Free: f.Disk.Free, Used: f.Disk.Used, Projects: make(map[string]int64)},
		Platforms: f.Platforms,
		Plans:     make(map[string]decide.ProjectPlan), Credit: make(map[string][]Day),
	}
	for u, p := range f.DB.Projects.All() {
		v.Plans[u] = f.Last.Project(u).In(f.Language)
		for _, c := range p.Statistics {
			v.Credit[u] = append(v.Credit[u], Day{Day: c.Day, User: c.UserTotal, Host: c.HostTotal, UserRAC: c.UserExpavg, HostRAC: c.HostExpavg})
		}
	}
	return v
}

func sensedAs(s prefs.Sense) string {
	switch s {
	case prefs.Yes:
		return "yes"
	case prefs.No:
		return "no"
	case prefs.Unknown:
	}
	return ""
}
