package view

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// Workunits lists workunits.
var Workunits = &Listing{
	Short: "List workunits",
	Long:  "List the newest workunits that all flags apply to. In the column RESULTS are unsent + in progress + over.",
	None:  "No workunits.",
	Columns: []Column{
		{"ID", OfWork}, {"Name", ""}, {"App", ""}, {"Batch", OfBatch}, {"Priority", ""}, {"State", ""}, {"Results", ""}, {"Created", ""},
	},
	Filters: append(common(names(workunitStates)),
		Filter{Name: "errors", About: "only those given up for one of these reasons: " + operate.ErrorNames}),
	find: findWorkunits,
}

// A WorkunitLine is a workunit in a list.
type WorkunitLine struct {
	ID         int64               `json:"id"`
	Name       string              `json:"name"`
	App        string              `json:"app"`
	Batch      int64               `json:"batch"`
	Priority   int64               `json:"priority"`
	State      store.WorkunitState `json:"state"`
	Errors     []string            `json:"errors"`
	Validating bool                `json:"need_validate"`
	Results    map[string]int      `json:"results"` // by server state
	CreateTime time.Time           `json:"create_time"`
}

func findWorkunits(tx *store.View, q Query, now time.Time) (List, error) {
	r := &reader{q: q, now: now}
	f := store.WorkunitFilter{
		Batch: r.number("batch"), HostID: r.number("host"), Limit: r.limit(), Below: r.number("below"), Before: r.ago("older-than"), Since: r.ago("newer-than"),
	}
	if state := choose(r, "state", workunitStates); state != nil {
		f.State = *state
	}
	f.AppID = r.appID(tx)
	if errs := q["errors"]; errs != "" && r.err == nil {
		f.Errors, r.err = operate.ParseErrors(errs)
	}
	if r.err != nil {
		return List{}, r.err
	}
	lines, older, err := workunitLines(tx, f)
	if err != nil {
		return List{}, err
	}
	list := List{Of: lines, Older: older}
	for _, w := range lines {
		state := string(w.State)
		if len(w.Errors) > 0 {
			state += ": " + strings.Join(w.Errors, ", ")
		}
		if w.Validating {
			state += ", validating"
		}
		list.Rows = append(list.Rows, []any{w.ID, w.Name, w.App, number0(w.Batch), w.Priority, state, fmt.Sprintf("%d + %d + %d",
			w.Results["inactive"]+w.Results["unsent"], w.Results["in_progress"], w.Results["over"]), w.CreateTime})
	}
	return list, nil
}

func workunitLines(tx *store.View, f store.WorkunitFilter) (out []WorkunitLine, older int64, err error) {
	c, err := readCatalog(tx)
	if err != nil {
		return nil, 0, err
	}
	list, older, err := tx.ListWorkunits(f)
	if err != nil {
		return nil, 0, err
	}
	ids := make([]int64, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	jobs, err := tx.Jobs(ids)
	out = []WorkunitLine{}
	for _, w := range list {
		line := WorkunitLine{
			ID: w.ID, Name: w.Name, App: c.apps[w.AppID], Batch: w.Batch, Priority: w.Priority, State: w.State(),
			Errors: w.ErrorMask.Reasons(), Validating: w.NeedValidate, Results: make(map[string]int), CreateTime: UTC(w.CreateTime),
		}
		for _, r := range jobs[w.ID].Results {
			line.Results[r.ServerState.String()]++
		}
		out = append(out, line)
	}
	return out, older, err
}

// A Workunit is all that is known of one: with the columns' names, states in words, and times
// that can be read.
type Workunit struct {
	ID                int64     `json:"id"`
	Name              string    `json:"name"`
	CreateTime        time.Time `json:"create_time"`
	Batch             int64     `json:"batch"`
	Priority          int64     `json:"priority"`
	TargetNResults    int       `json:"target_nresults"`
	MinQuorum         int       `json:"min_quorum"`
	CanonicalResultID int64     `json:"canonical_resultid"`
	CanonicalCredit   float64   `json:"canonical_credit"`
	NeedValidate      bool      `json:"need_validate"`
	Errors            []string  `json:"errors"`
	AssimilateState   string    `json:"assimilate_state"`
	FileDeleteState   string    `json:"file_delete_state"`
	TransitionTime    string    `json:"transition_time"`
	Results           []Result  `json:"results"`
	App               int64     `json:"appid"`
	AppName           string    `json:"app"`
	State             string    `json:"state"`
	MaxErrorResults   int       `json:"max_error_results"`
	MaxTotalResults   int       `json:"max_total_results"`
	MaxSuccessResults int       `json:"max_success_results"`
	DelayBound        float64   `json:"delay_bound"` // seconds
	RscFpopsEst       float64   `json:"rsc_fpops_est"`
	RscFpopsBound     float64   `json:"rsc_fpops_bound"`
	RscMemoryBound    float64   `json:"rsc_memory_bound"`
	RscDiskBound      float64   `json:"rsc_disk_bound"`
	RscBandwidthBound float64   `json:"rsc_bandwidth_bound,omitempty"`
	Credit            float64   `json:"credit,omitempty"`
	CommandLine       string    `json:"command_line"`
	ResultTemplate    string    `json:"result_template_file"`
	Inputs            []File    `json:"inputs"`
	HRClass           int64     `json:"hr_class,omitempty"`
	AppVersionID      int64     `json:"app_version_id,omitempty"` // with homogeneous app version
	Retries           int       `json:"retries,omitempty"`
	Predecessor       int64     `json:"predecessor,omitempty"`
	TargetType        string    `json:"target_type,omitempty"` // host, user or team ("": any)
	TargetID          int64     `json:"target_id,omitempty"`
	LastChance        bool      `json:"last_chance,omitempty"` // one more failure gives it up
	Suspicious        bool      `json:"suspicious,omitempty"`  // only trusted accounts get further results
	Awaiting          bool      `json:"awaiting,omitempty"`
	AwaitedFiles      []string  `json:"awaited_files,omitempty"`
	After             []int64   `json:"after,omitempty"` // workunits that it waits for
	History           []Event   `json:"history"`
}

// WorkunitBy shows the workunit with a number or name, or returns store.ErrNotFound.
func WorkunitBy(tx *store.View, id string) (*Workunit, error) {
	wu, err := FindWorkunit(tx, id)
	if err != nil {
		return nil, err
	}
	v := &Workunit{
		ID: wu.ID, Name: wu.Name, CreateTime: wu.CreateTime.UTC(), Batch: wu.Batch, Priority: wu.Priority,
		TargetNResults: wu.TargetNResults, MinQuorum: wu.MinQuorum, CanonicalResultID: wu.CanonicalResultID,
		CanonicalCredit: wu.CanonicalCredit, NeedValidate: wu.NeedValidate, Errors: wu.ErrorMask.Reasons(),
		AssimilateState: wu.AssimilateState.String(), FileDeleteState: wu.FileDeleteState.String(),
		TransitionTime: wu.TransitionTime.UTC().Format(time.RFC3339), Results: []Result{},
		State: string(wu.State()), MaxErrorResults: wu.MaxErrorResults, MaxTotalResults: wu.MaxTotalResults,
		MaxSuccessResults: wu.MaxSuccessResults, DelayBound: wu.DelayBound.Seconds(), RscFpopsEst: wu.RscFpopsEst,
		RscFpopsBound: wu.RscFpopsBound, RscMemoryBound: wu.RscMemoryBound, RscDiskBound: wu.RscDiskBound,
		RscBandwidthBound: wu.RscBandwidthBound, Credit: wu.Credit, ResultTemplate: wu.ResultTemplateFile, HRClass: wu.HRClass,
		AppVersionID: wu.AppVersionID, Retries: wu.Retries,
		App: wu.AppID, Predecessor: wu.Predecessor, Awaiting: wu.Awaiting, LastChance: wu.LastChance, Suspicious: wu.Suspicious,
	}
	c, err := readCatalog(tx)
	if err != nil {
		return nil, err
	}
	v.AppName = c.apps[wu.AppID]
	if v.CommandLine, v.Inputs, err = inputs(wu); err != nil {
		return nil, err
	}
	if wu.Target.Type != store.TargetNone {
		v.TargetType, v.TargetID = wu.Target.Type.String(), wu.Target.ID
	}
	if !wu.TransitionTime.Before(store.Never) {
		v.TransitionTime = "never"
	}
	history, err := tx.WorkunitHistory(wu.ID)
	if err != nil {
		return nil, err
	}
	v.History = viewHistory("", history)
	if v.AwaitedFiles, err = tx.AwaitedFilesOf(wu.ID); err != nil {
		return nil, err
	}
	outputs, err := tx.AwaitedOutputsOf(wu.ID)
	if err != nil {
		return nil, err
	}
	for _, o := range outputs {
		if !slices.Contains(v.After, o.Predecessor) {
			v.After = append(v.After, o.Predecessor)
		}
	}
	results, err := tx.ResultsOf(wu.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		r.StderrOut = ""
		view := viewResult(r)
		view.describe(c, r)
		v.Results = append(v.Results, view)
		history, err := tx.ResultHistory(r.ID)
		if err != nil {
			return nil, err
		}
		v.History = append(v.History, viewHistory(r.Name, history)...)
	}
	slices.SortStableFunc(v.History, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return v, nil
}

// FindWorkunit finds a workunit by number or name.
func FindWorkunit(tx *store.View, id string) (store.Workunit, error) {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		if wu, err := tx.Workunit(n); err == nil || !errors.Is(err, store.ErrNotFound) {
			return wu, err
		}
	}
	return tx.WorkunitByName(id)
}
