package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/metrics"
)

type agent struct {
	status control.Status
	err    error
}

func (a agent) Status(context.Context) (control.Status, error) { return a.status, a.err }

func scrape(a agent) *httptest.ResponseRecorder { return ask(a, "127.0.0.1:9100") }

func ask(a agent, host string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	metrics.Handler(a).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://"+host+"/metrics", nil))
	return rec
}

func TestMetrics(t *testing.T) {
	a := agent{status: control.Status{
		Version: "1.2.3", CPUs: 4, Network: "The network is off.", GPUs: []control.GPU{{Type: "NVIDIA", Number: 1, Celsius: 71, Busy: new(float64), MemoryUsed: 5e9, Memory: 12e9}, {Type: "ATI"}}, Times: control.Times{On: 0.5, Active: 0.25},
		Projects: []control.Project{{MasterURL: "u", Share: 100, Debt: -7, HostCredit: 9.5, Failures: 2, LastContact: time.Unix(1000, 0), Energy: control.Energy{Wh: 2, CO2: 0.5, CO2Of: 1}}, {MasterURL: "v"}},
		Tasks: []control.Task{
			{Project: "u", State: "downloaded", Running: true}, {Project: "u", State: "downloaded"}, {Project: "u", State: "uploading"},
		},
		Transfers: []control.Xfer{{Project: "u", Upload: true}},
	}}
	rec := scrape(a)
	body := rec.Body.String()
	for _, want := range []string{
		`starling_info{version="1.2.3"} 1`,
		"starling_computing_allowed 1",
		"starling_network_allowed 0",
		"starling_cpus 4",
		`starling_gpu_temperature_celsius{device="1",type="NVIDIA"} 71`,
		`starling_gpu_busy_ratio{device="1",type="NVIDIA"} 0`,
		`starling_gpu_memory_used_bytes{device="1",type="NVIDIA"} 5e+09`,
		"starling_on_fraction 0.5",
		`starling_tasks{project="u",state="downloaded"} 2`,
		`starling_tasks_running{project="u"} 1`,
		`starling_transfers{direction="upload",project="u"} 1`,
		`starling_project_debt_seconds{project="u"} -7`,
		`starling_project_credit{project="u"} 9.5`,
		`starling_project_last_contact_timestamp_seconds{project="u"} 1000`,
		`starling_project_energy_joules{project="u"} 7200`,
		`starling_project_co2_grams{project="u"} 0.5`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if strings.Contains(body, `energy_joules{project="v"}`) {
		t.Error("an energy that is not known has a number")
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Error(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "starling_") { // the others are the library's
			t.Errorf("%+v", p)
		}
	}
}

func TestOnlyForThisComputer(t *testing.T) {
	for host, want := range map[string]int{
		"127.0.0.1:9100": http.StatusOK, "localhost:9100": http.StatusOK, "[::1]:9100": http.StatusOK, "localhost": http.StatusOK,
		"evil.example:9100": http.StatusForbidden, "192.0.2.1": http.StatusForbidden,
	} {
		if got := ask(agent{}, host).Code; got != want {
			t.Errorf("%s: got %d, want %d", host, got, want)
		}
	}
}

func TestAnAgentThatDoesNotAnswer(t *testing.T) {
	if rec := scrape(agent{err: errors.New("busy")}); rec.Code != http.StatusInternalServerError {
		t.Errorf("got %d", rec.Code)
	}
}
