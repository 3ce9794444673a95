// Package metrics shows the agent's state to Prometheus on a separate port. It is off unless
// starling.toml names one.
package metrics

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/starling-grid/starling/agent/control"
)

// An Agent returns its state. Status may be called concurrently.
type Agent interface {
	Status(ctx context.Context) (control.Status, error)
}

// patience bounds how long the agent's loop may take to answer.
const patience = 10 * time.Second

// Serve answers GET /metrics on l until ctx ends, and then closes l.
func Serve(ctx context.Context, l net.Listener, a Agent, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", Handler(a))
	srv := &http.Server{
		Handler: mux, ReadTimeout: patience, WriteTimeout: 2 * patience, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// Handler returns what answers a scrape.
func Handler(a Agent) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(&collector{a}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return here(promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
}

// here answers only who asks for this computer by its own name: a page from elsewhere
// may have its name point here.
func here(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != "localhost" && !net.ParseIP(host).IsLoopback() {
			http.Error(w, "use 127.0.0.1 or localhost as the host name", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// A collector asks the agent at each scrape.
type collector struct{ agent Agent }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("starling_"+name, help, labels, nil)
}

var (
	info      = desc("info", "Always 1; the label has the agent's version.", "version")
	computing = desc("computing_allowed", "1 if tasks may run now.")
	network   = desc("network_allowed", "1 if the network may be used now.")
	cpus      = desc("cpus", "Number of CPUs that tasks may use.")
	heat      = desc("gpu_temperature_celsius", "Temperature of a GPU that tasks may use.", "type", "device")
	busy      = desc("gpu_busy_ratio", "Part of the time in which a GPU computed.", "type", "device")
	memory    = desc("gpu_memory_used_bytes", "Memory of a GPU that is in use.", "type", "device")
	on        = desc("on_fraction", "Fraction of time the agent runs, averaged over about ten days.")
	active    = desc("active_fraction", "Fraction of the agent's running time in which computing was allowed.")
	tasks     = desc("tasks", "Number of tasks on this computer.", "project", "state")
	running   = desc("tasks_running", "Number of tasks running now.", "project")
	transfers = desc("transfers", "Number of files waiting for transfer or being transferred.", "project", "direction")
	share     = desc("project_resource_share", "The project's resource share, relative to the other projects.", "project")
	debt      = desc("project_debt_seconds", "CPU time owed to the project.", "project")
	credit    = desc("project_credit", "Credit of this computer, as last reported by the project.", "project")
	energy    = desc("project_energy_joules", "Energy of the project's tasks on this computer, as far as it was measured or stated.", "project")
	co2       = desc("project_co2_grams", "CO2 of that energy, for the part of it whose carbon intensity was known.", "project")
	failures  = desc("project_failures", "Failed contacts since the last successful one.", "project")
	contact   = desc("project_last_contact_timestamp_seconds", "Time of the last contact with the project.", "project")
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := c.agent.Status(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(info, err)
		return
	}
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	set(info, 1, s.Version)
	set(computing, flag(s.Compute == ""))
	set(network, flag(s.Network == ""))
	set(cpus, float64(s.CPUs))
	set(on, s.Times.On)
	set(active, s.Times.Active)
	for _, g := range s.GPUs {
		device := strconv.Itoa(g.Number)
		if g.Celsius > 0 {
			set(heat, g.Celsius, g.Type, device)
		}
		if g.Busy != nil {
			set(busy, *g.Busy, g.Type, device)
		}
		if g.Memory > 0 {
			set(memory, float64(g.MemoryUsed), g.Type, device)
		}
	}
	for _, p := range s.Projects {
		set(share, p.Share, p.MasterURL)
		set(debt, p.Debt, p.MasterURL)
		set(credit, p.HostCredit, p.MasterURL)
		if p.Wh > 0 {
			set(energy, 3600*p.Wh, p.MasterURL)
		}
		if p.CO2Of > 0 {
			set(co2, p.CO2, p.MasterURL)
		}
		set(failures, float64(p.Failures), p.MasterURL)
		if !p.LastContact.IsZero() {
			set(contact, float64(p.LastContact.Unix()), p.MasterURL)
		}
	}
	type pair struct{ project, kind string }
	count, run, files := make(map[pair]float64), make(map[string]float64), make(map[pair]float64)
	for _, t := range s.Tasks {
		count[pair{t.Project, t.State}]++
		run[t.Project] += flag(t.Running)
	}
	for _, x := range s.Transfers {
		direction := "download"
		if x.Upload {
			direction = "upload"
		}
		files[pair{x.Project, direction}]++
	}
	for k, n := range count {
		set(tasks, n, k.project, k.kind)
	}
	for p, n := range run {
		set(running, n, p)
	}
	for k, n := range files {
		set(transfers, n, k.project, k.kind)
	}
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
