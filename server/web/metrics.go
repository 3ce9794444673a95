package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics shows this process and the project's state to Prometheus.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(s *Site) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "starling_request_duration_seconds", Help: "How long requests took, by the part that answered them.",
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

// timed notes how long h takes.
func (m *metrics) timed(role string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, begin := answer{w, http.StatusOK}, time.Now()
		h.ServeHTTP(&a, r)
		m.requests.WithLabelValues(role, strconv.Itoa(a.code)).Observe(time.Since(begin).Seconds())
	})
}

// An answer remembers its code. Unlike promhttp's it leaves to handlers what a
// http.ResponseController does.
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
	over      = desc("results_over", "Results that are over, by outcome.", "outcome")
	workunits = desc("workunits", "Workunits by what they wait for or have become.", "stage")
	oldest    = desc("oldest_age_seconds", "How long the oldest has waited, by what for.", "stage")
	users     = desc("users", "Accounts.")
	hosts     = desc("hosts", "Host records.")
	credit    = desc("credit", "Credit granted to users, in cobblestones.")
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{results, over, workunits, oldest, users, hosts, credit} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.site
	st, err := s.counts(context.Background(), fresh)
	if err != nil {
		s.Log.Error("metrics", "err", err)
		out <- prometheus.NewInvalidMetric(workunits, err)
		return
	}
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
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
	set(users, float64(st.Users))
	set(hosts, float64(st.Hosts))
	set(credit, st.Credit)
}
