package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/web/counts"
)

// A request is counted under its part and its answer's code, and handlers can still set deadlines.
func TestRequestsAreTimed(t *testing.T) {
	st := storetest.Open(t, "")
	storetest.Update(t, st, func(tx *store.Tx) error {
		app, err := tx.InsertApp(store.App{Name: "upper", Validator: "bitwise", Assimilator: "copy"})
		return errors.Join(err, tx.AddCreditedEnergy(app, store.CreditedEnergy{Results: 2, Wh: 3.5, Credit: 7}))
	})
	m := newMetrics(&Site{Store: st, Log: slog.New(slog.DiscardHandler), counts: counts.Kept(st, match.Once{})})
	var deadline error
	srv := httptest.NewServer(m.timed("upload", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		deadline = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
		w.WriteHeader(http.StatusTeapot)
	})))
	defer srv.Close()
	res, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if deadline != nil {
		t.Errorf("a deadline cannot be set: %v", deadline)
	}
	page := httptest.NewRecorder()
	m.page().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`starling_request_duration_seconds_count{code="418",role="upload"} 1`, `starling_workunits{stage="total"} 0`,
		`starling_oldest_age_seconds{stage="unsent"} 0`, "go_goroutines ",
		`starling_credited_energy_wh_total{app="upper"} 3.5`, `starling_credited_energy_results_total{app="upper"} 2`,
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("no %s in %s", want, page.Body)
		}
	}
}

// The alerts and the dashboard for operators use metrics, labels and stages that exist.
func TestAlertsAndDashboard(t *testing.T) {
	st := storetest.Open(t, "")
	m := newMetrics(&Site{Log: slog.New(slog.DiscardHandler), counts: counts.Kept(st, match.Once{})})
	m.requests.WithLabelValues("web", "200").Observe(1)
	page := httptest.NewRecorder()
	m.page().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	described := make(chan *prometheus.Desc, 100)
	m.registry.Describe(described)
	close(described)
	all := ""
	for d := range described {
		all += d.String() + "\n"
	}
	metric := regexp.MustCompile(`\b((?:starling|process)_[a-z_]+)(?:\{([^}]*)\})?`)
	label := regexp.MustCompile(`([a-z_]+)=~?"([^"]*)"`)
	grouped := regexp.MustCompile(`by \(([a-z_, ]+)\)`)
	expressions := 0
	for _, file := range []string{"alerts.yml", "grafana.json"} {
		text, err := os.ReadFile("../../docs/monitoring/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "expr") {
				continue
			}
			expressions++
			line = strings.ReplaceAll(line, `\"`, `"`)
			for _, found := range metric.FindAllStringSubmatch(line, -1) {
				name := regexp.MustCompile(`(_seconds)_(count|bucket)$`).ReplaceAllString(found[1], "$1")
				_, labels, ok := strings.Cut(all, `fqName: "`+name+`"`)
				labels, _, _ = strings.Cut(labels, "\n")
				_, labels, _ = strings.Cut(labels, "variableLabels: ")
				if !ok {
					t.Errorf("%s: there is no metric %s", file, found[1])
				}
				has := func(label string) {
					if label != "le" && !slices.Contains(regexp.MustCompile(`[a-z_]+`).FindAllString(labels, -1), label) {
						t.Errorf("%s: %s has no label %s, it has %s", file, found[1], label, labels)
					}
				}
				for _, l := range label.FindAllStringSubmatch(found[2], -1) {
					if l[1] == "job" { // of Prometheus
						continue
					}
					has(l[1])
					for value := range strings.SplitSeq(l[2], "|") {
						if l[1] != "code" && !strings.Contains(page.Body.String(), fmt.Sprintf("%s{%s=%q}", found[1], l[1], value)) {
							t.Errorf("%s: %s is never %s", file, l[1], value)
						}
					}
				}
				for _, by := range grouped.FindAllStringSubmatch(line, -1) {
					for l := range strings.SplitSeq(by[1], ", ") {
						has(l)
					}
				}
			}
		}
		if file == "grafana.json" && !json.Valid(text) {
			t.Error("the dashboard is not valid JSON")
		}
	}
	if expressions < 10 {
		t.Errorf("only %d expressions were found", expressions)
	}
}
