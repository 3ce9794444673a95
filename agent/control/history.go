package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// MaxHistoryPage is the most tasks, or spans, that one page of the history has.
const MaxHistoryPage = 500

// A Historian shows what there was.
type Historian interface {
	// History returns a page of the tasks that have ended, the last first.
	History(ctx context.Context, q HistoryQuery) (History, error)
	// Timeline returns a page of the computer's activities, the latest first. Only Since, Before
	// and Limit of the query count.
	Timeline(ctx context.Context, q HistoryQuery) (Timeline, error)
}

// A HistoryQuery selects a part of the history. The zero value is its first page.
type HistoryQuery struct {
	Project string    // master URL ("" for all)
	Task    string    // a task's name ("" for all)
	Search  string    // only tasks that have all of these words somewhere, see HistoryTask.Matches ("" for all)
	Since   time.Time // only entries that ended then or later (zero for all)
	Before  uint64    // Next of the page before (0 for the first page)
	Limit   int       // maximum number of entries, at most MaxHistoryPage (0 for that many)
}

// A History is a page of the tasks that have ended.
type History struct {
	Tasks []HistoryTask `json:"tasks"`
	Next  uint64        `json:"next,omitempty"` // HistoryQuery.Before of the next page, which may be empty if not all tasks are wanted (0: this is the last)
}

// A HistoryTask is a task that has ended on this computer.
type HistoryTask struct {
	Name        string `json:"name"`
	Project     string `json:"project"` // master URL
	ProjectName string `json:"project_name,omitempty"`
	Workunit    string `json:"workunit,omitempty"`
	App         string `json:"app,omitempty"`
	AppTitle    string `json:"app_title,omitempty"`   // as the project calls the application for people, while it is attached
	AppVersion  int    `json:"app_version,omitempty"` // 123 is 1.23
	PlanClass   string `json:"plan_class,omitempty"`

	Outcome    string `json:"outcome"`        // finished, failed or aborted
	By         string `json:"by,omitempty"`   // that aborted it: user, project, agent or account_manager
	Code       string `json:"code,omitempty"` // why it failed or was aborted: a code of docs/situations.md
	Exit       string `json:"exit,omitempty"` // the same in words
	ExitStatus int    `json:"exit_status"`
	Stderr     string `json:"stderr,omitempty"` // the last lines that its application wrote

	Received time.Time `json:"received,omitzero"`
	Started  time.Time `json:"started,omitzero"` // missing: never
	Finished time.Time `json:"finished,omitzero"`
	Reported time.Time `json:"reported,omitzero"` // missing: not yet, or never
	Deadline time.Time `json:"deadline,omitzero"`
	Late     float64   `json:"late_seconds,omitempty"` // reported, or else finished, so long after its deadline

	Elapsed    float64 `json:"elapsed_seconds"`
	CPUTime    float64 `json:"cpu_seconds"`
	PeakMemory int64   `json:"peak_memory_bytes,omitempty"`
	Energy
	// Credit is the task's credit, or null if unknown. Projects that use BOINC's protocol report
	// the total of an account and of a computer, but not the credit of a task.
	Credit *float64 `json:"credit"`
}

// Matches reports whether each of the words of a search is somewhere in what people see of
// the task: its name, project, application, outcome or reason. Case does not matter.
func (t HistoryTask) Matches(search string) bool {
	late := ""
	if t.Late > 0 {
		late = "late"
	}
	all := strings.ToLower(strings.Join([]string{t.Name, t.ProjectName, t.Project, t.App, t.AppTitle, t.Outcome, t.By, late, t.Exit}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// A Timeline is a page of the computer's activities.
type Timeline struct {
	Spans []Span `json:"spans"`
	Next  uint64 `json:"next,omitempty"` // as in History
}

// A Span is a time during which the computer did one thing.
type Span struct {
	State string    `json:"state"`          // computing, waiting (for tasks to run), suspended or off
	Code  string    `json:"code,omitempty"` // why it was suspended: a code of docs/situations.md, or off: stopped, killed or asleep
	Why   string    `json:"why,omitempty"`  // the same in words
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`            // of one that lasts: now
	Open  bool      `json:"open,omitempty"` // it lasts
}

func historyRoutes(mux *http.ServeMux, h Historian) {
	mux.HandleFunc("GET /v1/history", page(h.History))
	mux.HandleFunc("GET /v1/timeline", page(h.Timeline))
}

// page answers with the page that a request asks for.
func page[T any](ask func(context.Context, HistoryQuery) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := ParseHistoryQuery(r.URL.Query())
		var v T
		if err == nil {
			v, err = ask(r.Context(), q)
		}
		answer(w, r, v, err)
	}
}

// values returns a query in the form for an address.
func (q HistoryQuery) values() url.Values {
	v := make(url.Values)
	set := func(name, text string) {
		if text != "" && text != "0" {
			v.Set(name, text)
		}
	}
	set("project", q.Project)
	set("task", q.Task)
	set("search", q.Search)
	set("before", strconv.FormatUint(q.Before, 10))
	set("limit", strconv.Itoa(q.Limit))
	if !q.Since.IsZero() {
		v.Set("since", q.Since.Format(time.RFC3339Nano))
	}
	return v
}

// ParseHistoryQuery reads a query from an address: project, task, search, since (RFC 3339), before
// and limit, each of which is optional.
func ParseHistoryQuery(v url.Values) (q HistoryQuery, err error) {
	q.Project, q.Task, q.Search = v.Get("project"), v.Get("task"), v.Get("search")
	var errs []error
	if text := v.Get("since"); text != "" {
		q.Since, err = time.Parse(time.RFC3339, text)
		errs = append(errs, err)
	}
	if text := v.Get("before"); text != "" {
		q.Before, err = strconv.ParseUint(text, 10, 64)
		errs = append(errs, err)
	}
	if text := v.Get("limit"); text != "" {
		q.Limit, err = strconv.Atoi(text)
		errs = append(errs, err)
	}
	return q, errors.Join(errs...)
}

// History asks for a page of the tasks that have ended.
func (c *Client) History(ctx context.Context, q HistoryQuery) (History, error) {
	return get[History](ctx, c, "history?"+q.values().Encode())
}

// Timeline requests a page of the computer's activities.
func (c *Client) Timeline(ctx context.Context, q HistoryQuery) (Timeline, error) {
	return get[Timeline](ctx, c, "timeline?"+q.values().Encode())
}
