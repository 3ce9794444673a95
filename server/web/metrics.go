package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

// metrics shows this process and the project's state to Prometheus.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(s *Site) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "starling_request_duration_seconds", Help: "Duration of requests, by component.",
		Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 60},
	}, []string{"role", "code"})}
	m.registry.MustRegister(m.requests, &collector{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// page answers a scrape.
func (m *metrics) page() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// timed measures the time that h takes.
func (m *metrics) timed(role string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, begin := answer{w, http.StatusOK}, time.Now()
		h.ServeHTTP(&a, r)
		m.requests.WithLabelValues(role, strconv.Itoa(a.code)).Observe(time.Since(begin).Seconds())
	})
}

// An answer remembers its status code. Unlike promhttp's, it lets handlers use a
// http.ResponseController.
type answer struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// A collector counts at a scrape.
type collector struct{ site *Site }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("starling_"+name, help, labels, nil)
}

var (
	results   = desc("results", "Results by server state.", "server_state")
	over      = desc("results_over", "Completed results, by outcome.", "outcome")
	workunits = desc("workunits", "Workunits by state.", "stage")
	oldest    = desc("oldest_age_seconds", "Age of the oldest waiting item, by what it waits for.", "stage")
	untakenN  = desc("results_untaken", "Unsent results that no active computer can run, by application and cause.", "app", "cause")
	untakenAt = desc("results_untaken_age_seconds", "Age of the oldest of them.", "app", "cause")
	putOff    = desc("work_put_off", "Workunits or messages that a daemon could not handle and will try again.", "app", "daemon")
	users     = desc("users", "Accounts.")
	hosts     = desc("hosts", "Host records.")
	granted   = desc("credit", "Credit granted to users, in cobblestones.")

	energyWh = desc("credited_energy_wh_total", "Energy of the results that got credit and whose hosts share it, in watt-hours.", "app")
	energyOf = desc("credited_energy_results_total", "Number of these results.", "app")

	voters  = desc("app_version_hosts", "Hosts with measured run times of an app version.", versionLabels...)
	stretch = desc("app_version_stretch", "Run time relative to the estimate from the host's benchmark: median over the hosts.", versionLabels...)
	spread  = desc("app_version_stretch_spread", "Standard deviation of the logarithm of that ratio over the hosts.", versionLabels...)
)

var versionLabels = []string{"app", "version", "platform", "plan_class"}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{results, over, workunits, oldest, untakenN, untakenAt, putOff, users, hosts, granted, energyWh, energyOf, voters, stretch, spread} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.site
	st, err := s.counts.Get(context.Background(), counts.Fresh)
	if err != nil {
		s.Log.Error("metrics", "err", err)
		out <- prometheus.NewInvalidMetric(workunits, err)
		return
	}
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	total := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	each := func(d *prometheus.Desc, values map[string]int64) {
		for label, n := range values {
			set(d, float64(n), label)
		}
	}
	u := st.Workunits
	each(results, st.Results.ByServerState)
	each(over, st.Results.ByOutcome)
	each(workunits, map[string]int64{
		"total": u.Total, "unfinished": u.Unfinished, "canonical": u.Canonical, "error": u.Error,
		"need_validate": u.NeedValidate, "waiting_assimilation": u.WaitingAssimilate, "assimilated": u.Assimilated,
		"waiting_file_deletion": u.WaitingFileDelete, "transition_due": u.TransitionsPending,
	})
	each(oldest, st.OldestAge)
	for _, f := range st.Untaken {
		set(untakenN, float64(f.Results), f.App, string(f.Cause))
		set(untakenAt, max(0, time.Since(f.Since).Seconds()), f.App, string(f.Cause))
	}
	set(users, float64(st.Users))
	set(hosts, float64(st.Hosts))
	set(granted, st.Credit)
	for _, a := range st.ByApp {
		total(energyWh, a.CreditedEnergy.Wh, a.Name)
		total(energyOf, float64(a.CreditedEnergy.Results), a.Name)
	}
	if err := c.apps(set); err != nil {
		s.Log.Error("metrics", "err", err)
		out <- prometheus.NewInvalidMetric(stretch, err)
	}
}

// apps sets the metrics of work that was put off, and of the learned speeds of the app versions that are sent.
func (c *collector) apps(set func(d *prometheus.Desc, v float64, labels ...string)) error {
	names := make(map[int64]string)
	var versions []store.AppVersion
	var votes []store.VersionVotes
	var troubles []store.Trouble
	err := c.site.Store.View(context.Background(), func(tx *store.View) error {
		apps, err := tx.Apps()
		if err != nil {
			return err
		}
		for _, a := range apps {
			names[a.ID] = a.Name
		}
		if troubles, err = pass.Current(tx, time.Now()); err != nil {
			return err
		}
		if versions, err = tx.AppVersions(); err != nil {
			return err
		}
		votes, err = tx.VersionVotes()
		return err
	})
	if err != nil {
		return err
	}
	for _, x := range troubles {
		set(putOff, float64(x.Waiting), names[x.AppID], x.Daemon)
	}
	known := hostversion.NewSpeeds(votes, nil)
	for _, v := range versions {
		labels := []string{names[v.AppID], fmt.Sprintf("%d.%02d", v.VersionNum/100, v.VersionNum%100), v.Platform.Name, v.PlanClass}
		x := known.Version(v.ID)
		set(voters, float64(x.Hosts), labels...)
		if x.Hosts > 0 {
			set(stretch, x.Stretch, labels...)
			set(spread, x.Spread, labels...)
		}
	}
	return nil
}
