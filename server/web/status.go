package web

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/untaken"
)

// To count reads whole tables, and anyone may ask: for each time that it takes, nobody
// makes it begin again for rest times as long.
const (
	fresh = time.Second
	rest  = 20
	// homely is how old the numbers on the home page may be, which clients fetch for its
	// tags alone.
	homely = 10 * time.Minute
)

// A cache keeps the last counts.
type cache struct {
	counting sync.Mutex // held by who counts

	mu     sync.Mutex
	taken  time.Time
	took   time.Duration
	status Status
}

// A Status is what the status page and metrics tell. Its JSON form is a part of what
// `starling-server status --json` prints.
type Status struct {
	store.Status
	Untaken []untaken.Finding `json:"untaken"` // unsent results that no computer can have
}

// TakeStatus counts everything as of now. It reads whole tables.
func TakeStatus(tx *store.Tx, now time.Time) (st Status, err error) {
	if st.Status, err = tx.Status(now.Unix()); err == nil {
		st.Untaken, err = untaken.Look(tx, now)
	}
	return st, err
}

// last returns the last counts, if they are not older than age or were dear.
func (c *cache) last(age time.Duration) (Status, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := time.Since(c.taken)
	return c.status, since >= 0 && since < max(age, rest*c.took)
}

// counts returns how much there is of everything, as it was at most age ago, or when it
// was last counted if that takes long.
func (s *Site) counts(ctx context.Context, age time.Duration) (Status, error) {
	c := &s.cache
	if st, ok := c.last(age); ok {
		return st, nil
	}
	c.counting.Lock()
	defer c.counting.Unlock()
	if st, ok := c.last(age); ok { // another has counted meanwhile
		return st, nil
	}
	begin := time.Now()
	var st Status
	err := s.Store.View(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		st, err = TakeStatus(tx, begin)
		return err
	})
	if err != nil {
		return st, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken, c.took, c.status = begin, time.Since(begin), st
	return st, nil
}

// status shows how far the work has come: as a page, with ?xml=1 in the manner
// of BOINC's server_status.php, or with ?json=1 as `status --json` prints it.
func (s *Site) status(w http.ResponseWriter, r *http.Request) {
	st, err := s.counts(r.Context(), fresh)
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

func statusXML(st Status) []byte {
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
{{if .Untaken}}<h2>Results that no computer can have</h2>
<ul>
{{range .Untaken}}<li>{{.Text}}</li>
{{end}}</ul>
{{end}}<h2>Results that are over</h2>
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
