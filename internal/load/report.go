package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A Report is the outcome of Run.
type Report struct {
	URL         string   `json:"url"`
	Schedulers  []string `json:"schedulers"` // the connections are distributed over them
	Hosts       int      `json:"hosts"`
	Refused     int      `json:"hosts_refused"` // hosts that the project did not accept
	Connections int      `json:"connections"`
	Jobs        int      `json:"jobs"`
	KeepAlive   bool     `json:"keep_alive"`
	Upload      bool     `json:"upload"`

	Registration Counts `json:"registration"` // the hosts' first requests, before the measurement
	Measured     Counts `json:"measured"`
	Settling     Counts `json:"settling"`   // reports of the remaining tasks
	Unreported   int    `json:"unreported"` // tasks whose report was never acknowledged
	CPU          CPU    `json:"cpu_seconds"`
}

// Rate returns the number of tasks a second that were dispatched, or that were reported if fewer,
// in the measurement.
func (r *Report) Rate() float64 {
	if r.Measured.Seconds <= 0 {
		return 0
	}
	return float64(min(r.Measured.Dispatched, r.Measured.Reported)) / r.Measured.Seconds
}

// Tasks returns the number of tasks that the project dispatched in total.
func (r *Report) Tasks() int64 {
	return r.Registration.Dispatched + r.Measured.Dispatched + r.Settling.Dispatched
}

// Write writes the report for people.
func (r *Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	m := &r.Measured
	alive := "keep-alive"
	if !r.KeepAlive {
		alive = "a connection for each request"
	}
	line("hosts", "%d, %d at a time, %s; jobs wanted in a request: %d", r.Hosts, r.Connections, alive, r.Jobs)
	if r.Refused > 0 {
		line("", "%d of them were refused: %s", r.Refused, list(r.Registration.Refused, r.Registration.Errors))
	}
	line("tasks", "%.0f/s dispatched and reported", r.Rate())
	line("", "%d dispatched and %d reported in %.1f s; %d and %d in all, %d unreported", m.Dispatched, m.Reported, m.Seconds,
		r.Tasks(), r.Registration.Reported+m.Reported+r.Settling.Reported, r.Unreported)
	if m.Resent > 0 {
		line("", "%d sent a second time", m.Resent)
	}
	line("requests", "%.0f/s, %d bytes each", per(m.Requests, m.Seconds), m.Bytes/max(1, m.Requests))
	line("latency", "%s", m.Latency.text())
	if r.Upload {
		line("uploads", "%.0f/s, %s", per(m.Uploaded, m.Seconds), m.Uploads.text())
	}
	line("no work", "%s", cmp.Or(list(m.Refused), "never"))
	line("errors", "%s", cmp.Or(list(m.Errors, r.Settling.Errors), "none"))
	line("processors", "%s", r.processors())
	return t.Flush()
}

func per(n int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

// processors returns a text with the processor time for 1,000 tasks, or the total if there were
// none.
func (r *Report) processors() string {
	unit, of := "s", 1.0
	if n := r.Measured.Dispatched; n > 0 {
		unit, of = "s for 1000 tasks", float64(n)/1000
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%.2f %s of the generator", r.CPU.Generator/of, unit)
	for _, pid := range slices.Sorted(maps.Keys(r.CPU.Processes)) {
		fmt.Fprintf(&b, ", %.2f of process %d", r.CPU.Processes[pid]/of, pid)
	}
	fmt.Fprintf(&b, "; this computer was busy for %.0f %%", 100*r.CPU.Busy)
	return b.String()
}

// text returns a description of the distribution for people.
func (l Latency) text() string {
	show := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	return fmt.Sprintf("median %s, 99 %% within %s, at most %s", show(l.Quantile(0.5)), show(l.Quantile(0.99)), show(l.most))
}

// list returns a text with all counts, the largest first.
func list(counts ...map[string]int64) string {
	sum := make(map[string]int64)
	for _, c := range counts {
		for k, n := range c {
			sum[k] += n
		}
	}
	keys := slices.SortedFunc(maps.Keys(sum), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b))
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%d × %s", sum[k], k)
	}
	return strings.Join(keys, ", ")
}
