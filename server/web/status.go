package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/store"
)

// fresh is how old counts may be: they read whole tables, and anyone may ask.
const fresh = time.Second

// A cache keeps the last counts.
type cache struct {
	mu     sync.Mutex
	taken  time.Time
	status store.Status
}

func (s *Site) counts(r *http.Request) (store.Status, error) {
	c := &s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := time.Since(c.taken); age >= 0 && age < fresh {
		return c.status, nil
	}
	err := s.Store.View(context.WithoutCancel(r.Context()), func(tx *store.Tx) (err error) {
		c.status, err = tx.Status(time.Now().Unix())
		return err
	})
	if err == nil {
		c.taken = time.Now()
	}
	return c.status, err
}

// status shows how far the work has come: as a page, with ?xml=1 in the manner
// of BOINC's server_status.php, or with ?json=1 as `status --json` prints it.
func (s *Site) status(w http.ResponseWriter, r *http.Request) {
	st, err := s.counts(r)
	if err != nil {
		s.Log.Error("status page", "err", err)
		http.Error(w, "the project cannot answer now", http.StatusServiceUnavailable)
		return
	}
	switch q := r.URL.Query(); {
	case q.Get("json") != "":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(st)
	case q.Get("xml") != "":
		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write(statusXML(st))
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = statusPage.Execute(w, map[string]any{"Name": s.Name, "Status": st})
	}
}

func statusXML(st store.Status) []byte {
	var w bxml.Writer
	w.Open("server_status")
	w.Int("update_time", time.Now().Unix())
	w.Open("database_file_states")
	w.Int("results_ready_to_send", st.Results.ByServerState[store.Unsent.String()])
	w.Int("results_in_progress", st.Results.ByServerState[store.InProgress.String()])
	w.Int("workunits_waiting_for_validation", st.Workunits.NeedValidate)
	w.Int("workunits_waiting_for_assimilation", st.Workunits.WaitingAssimilate)
	w.Int("workunits_waiting_for_deletion", st.Workunits.WaitingFileDelete)
	w.Int("results_waiting_for_deletion", st.Results.WaitingFileDelete)
	w.Int("users_registered", st.Users)
	w.Int("hosts_registered", st.Hosts)
	w.Close("database_file_states")
	w.Close("server_status")
	return w.Bytes()
}

// metrics is the Prometheus text format, which is simple enough to print.
func (s *Site) metrics(w http.ResponseWriter, r *http.Request) {
	st, err := s.counts(r)
	if err != nil {
		s.Log.Error("metrics", "err", err)
		http.Error(w, "the project cannot answer now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	gauge := func(name, help string) {
		_, _ = fmt.Fprintf(w, "# HELP starling_%s %s\n# TYPE starling_%s gauge\n", name, help, name)
	}
	labelled := func(name, label string, values map[string]int64) {
		for _, k := range slices.Sorted(maps.Keys(values)) {
			_, _ = fmt.Fprintf(w, "starling_%s{%s=%q} %d\n", name, label, k, values[k])
		}
	}
	gauge("results", "Results by server state.")
	labelled("results", "server_state", st.Results.ByServerState)
	gauge("results_over", "Results that are over, by outcome.")
	labelled("results_over", "outcome", st.Results.ByOutcome)
	gauge("workunits", "Workunits by what they wait for or have become.")
	u := st.Workunits
	labelled("workunits", "stage", map[string]int64{
		"total": u.Total, "unfinished": u.Unfinished, "canonical": u.Canonical, "error": u.Error,
		"need_validate": u.NeedValidate, "waiting_assimilation": u.WaitingAssimilate, "assimilated": u.Assimilated,
		"waiting_file_deletion": u.WaitingFileDelete, "transition_due": u.TransitionsPending,
	})
	gauge("oldest_age_seconds", "How long the oldest has waited, by what for.")
	labelled("oldest_age_seconds", "stage", st.OldestAge)
	for _, x := range []struct {
		name, help string
		v          any
	}{
		{"users", "Accounts.", st.Users},
		{"hosts", "Host records.", st.Hosts},
		{"credit", "Credit granted to users, in cobblestones.", st.Credit},
	} {
		gauge(x.name, x.help)
		_, _ = fmt.Fprintf(w, "starling_%s %v\n", x.name, x.v)
	}
}

const style = `<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color:#222}
h1{font-weight:600}table{border-collapse:collapse}td{padding:.15rem 1rem .15rem 0}td+td{text-align:right}
code{background:#f3f3f3;padding:.1rem .3rem}a{color:#06c}.error{color:#b00020}
.list td,.list th{text-align:left;padding:.15rem 1rem .15rem 0}input,button{font:inherit;padding:.2rem .4rem}</style>`

var homePage = template.Must(template.New("home").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{.Name}}</title>
<link rel="boinc_scheduler" href="{{.Cgi}}">
` + style + `
</head>
<body>
{{.Tag}}
<h1>{{.Name}}</h1>
<p>A volunteer-computing project. Give it some time of your computer:</p>
<p><code>starling attach {{.URL}} --email YOU</code></p>
<p>or choose “Add project” in the BOINC Manager and enter</p>
<p><code>{{.URL}}</code></p>
<p><a href="signup">Sign up</a> · <a href="login">Log in</a> to see your computers and credit and to set preferences.</p>
<p>{{.Status.Users}} volunteers with {{.Status.Hosts}} computers have finished
{{.Status.Workunits.Canonical}} of {{.Status.Workunits.Total}} workunits.
<a href="status">How the work stands</a></p>
</body>
</html>
`))

var statusPage = template.Must(template.New("status").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="30">
<title>{{.Name}}: status</title>
` + style + `
</head>
<body>
<h1>{{.Name}}</h1>
{{with .Status}}
<h2>Workunits</h2>
<table>
<tr><td>in all</td><td>{{.Workunits.Total}}</td></tr>
<tr><td>not finished</td><td>{{.Workunits.Unfinished}}</td></tr>
<tr><td>with a canonical result</td><td>{{.Workunits.Canonical}}</td></tr>
<tr><td>given up</td><td>{{.Workunits.Error}}</td></tr>
<tr><td>waiting for validation</td><td>{{.Workunits.NeedValidate}}</td></tr>
<tr><td>waiting for assimilation</td><td>{{.Workunits.WaitingAssimilate}}</td></tr>
<tr><td>waiting for file deletion</td><td>{{.Workunits.WaitingFileDelete}}</td></tr>
</table>
<h2>Seconds for which the oldest has waited</h2>
<table>
{{range $what, $s := .OldestAge}}<tr><td>{{$what}}</td><td>{{$s}}</td></tr>
{{end}}</table>
<h2>Results</h2>
<table>
{{range $state, $n := .Results.ByServerState}}<tr><td>{{$state}}</td><td>{{$n}}</td></tr>
{{end}}</table>
<h2>Results that are over</h2>
<table>
{{range $outcome, $n := .Results.ByOutcome}}<tr><td>{{$outcome}}</td><td>{{$n}}</td></tr>
{{end}}</table>
<h2>Volunteers</h2>
<table>
<tr><td>accounts</td><td>{{.Users}}</td></tr>
<tr><td>computers</td><td>{{.Hosts}}</td></tr>
<tr><td>credit</td><td>{{printf "%.2f" .Credit}}</td></tr>
</table>
{{end}}
<p><a href="./">Home</a></p>
</body>
</html>
`))
