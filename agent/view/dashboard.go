package view

import (
	"github.com/starling-grid/starling/agent/control/dashboard"
	"github.com/starling-grid/starling/decide"
)

// Dashboard is what the dashboard shows: the status, with the reasons of the last
// pass and the credit of the last days.
func (f *Facts) Dashboard() dashboard.View {
	s, h := f.Last.Snapshot, f.host()
	v := dashboard.View{
		Status: f.Status(), Compute: s.Compute, Network: s.Network,
		RunUntil: h.RunMode.Until, NetUntil: h.NetMode.Until,
		CPUs: s.CPUs, AllCPUs: s.AllCPUs, Memory: s.Memory, Temperature: f.Conditions.Temperature,
		Plans: make(map[string]decide.ProjectPlan), Credit: make(map[string][]dashboard.Day),
	}
	for u, p := range f.DB.Projects.All() {
		v.Plans[u] = f.Last.Project(u)
		for _, c := range p.Statistics {
			v.Credit[u] = append(v.Credit[u], dashboard.Day{Day: c.Day, User: c.UserTotal, Host: c.HostTotal})
		}
	}
	return v
}
