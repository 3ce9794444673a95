package view

import (
	"errors"
	"strconv"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Results lists results.
var Results = &Listing{
	Short: "List results",
	Long:  "List the newest results that all flags apply to. DUE is the deadline of a result in progress and the time when\nthe others were reported.",
	None:  "No results.",
	Columns: []Column{
		{"ID", OfResult},
		{"Name", ""},
		{"App", ""},
		{"State", ""},
		{"Outcome", ""},
		{"Validation", ""},
		{"Host", OfHost},
		{"Version", ""},
		{"Platform", ""},
		{"Exit", ""},
		{"Credit", ""},
		{"Sent", ""},
		{"Due", ""},
	},
	Filters: append(common(names(serverStates)),
		Filter{Name: "outcome", Type: Choice, Choices: names(outcomes), About: "only of this outcome"},
		Filter{Name: "validate-state", Type: Choice, Choices: names(validateStates), About: "only with this verdict of the validator"},
		Filter{Name: "user", Type: Number, About: "only sent to computers of the account with this number"},
		Filter{Name: "version-id", Type: Number, About: "only sent with the app version of this number (see version list)"}),
	find: findResults,
}

func findResults(tx *store.View, q Query, now time.Time) (List, error) {
	r := &reader{q: q, now: now}
	f := store.ResultFilter{
		Batch: r.number("batch"), HostID: r.number("host"), UserID: r.number("user"), VersionID: r.number("version-id"), Limit: r.limit(), Below: r.number("below"),
		Before: r.ago("older-than"), Since: r.ago("newer-than"),
		Outcome: choose(r, "outcome", outcomes), Validate: choose(r, "validate-state", validateStates),
	}
	if state := choose(r, "state", serverStates); state != nil {
		f.State = *state
	}
	f.AppID = r.appID(tx)
	if r.err != nil {
		return List{}, r.err
	}
	c, err := readCatalog(tx)
	if err != nil {
		return List{}, err
	}
	found, older, err := tx.ListResults(f)
	views := []Result{}
	list := List{Older: older}
	for _, r := range found {
		v := viewResult(r)
		v.StderrOut = ""
		v.describe(c, r)
		views = append(views, v)
		due, version, out, valid := v.ReceivedTime, "", "", ""
		if r.ServerState == store.InProgress {
			due = v.ReportDeadline
		}
		if r.AppVersionID != 0 {
			version = versionName(r.VersionNum, v.PlanClass)
		}
		if r.ServerState == store.Over {
			out, valid = v.Outcome, v.ValidateState
		}
		list.Rows = append(list.Rows, []any{
			v.ID, v.Name, v.App, v.ServerState, out, valid, number0(v.HostID), version, v.Platform,
			number0(v.ExitStatus), v.GrantedCredit, v.SentTime, due,
		})
	}
	list.Of = views
	return list, err
}

// A Result is all that is known of one.
type Result struct {
	ID              int64     `json:"id"`
	Name            string    `json:"name"`
	WorkunitID      int64     `json:"workunitid"`
	AppID           int64     `json:"appid"`
	App             string    `json:"app,omitempty"`
	Batch           int64     `json:"batch"`
	Priority        int64     `json:"priority"`
	CreateTime      time.Time `json:"create_time"`
	AppVersionID    int64     `json:"app_version_id"`
	VersionNum      int64     `json:"app_version_num"` // 100·major + minor
	Platform        string    `json:"platform,omitempty"`
	PlanClass       string    `json:"plan_class,omitempty"`
	Anonymous       bool      `json:"anonymous_platform,omitempty"` // computed with a program of the volunteer's own
	Coproc          string    `json:"coproc,omitempty"`             // then: the kind of coprocessor that it uses
	HostID          int64     `json:"hostid"`
	UserID          int64     `json:"userid"`
	ServerState     string    `json:"server_state"`
	Outcome         string    `json:"outcome"`
	ValidateState   string    `json:"validate_state"`
	FileDeleteState string    `json:"file_delete_state"`
	ClientState     int64     `json:"client_state"`
	ExitStatus      int64     `json:"exit_status"`
	SentTime        time.Time `json:"sent_time,omitzero"`
	ReportDeadline  time.Time `json:"report_deadline,omitzero"`
	ReceivedTime    time.Time `json:"received_time,omitzero"`
	CPUTime         float64   `json:"cpu_time"`
	ElapsedTime     float64   `json:"elapsed_time"`
	ClaimedCredit   float64   `json:"claimed_credit"`
	GrantedCredit   float64   `json:"granted_credit"`
	FlopsEstimate   float64   `json:"flops_estimate"` // operations a second, as sent to the host
	PeakWorkingSet  float64   `json:"peak_working_set_size"`
	PeakSwap        float64   `json:"peak_swap_size"`
	PeakDisk        float64   `json:"peak_disk_usage"`
	EnergyWh        float64   `json:"energy_wh,omitzero"` // if the host shares it
	StderrOut       string    `json:"stderr_out,omitempty"`

	Outputs []File    `json:"outputs,omitempty"`
	Host    *HostLine `json:"host,omitempty"`
	User    *UserLine `json:"user,omitempty"`
	History []Event   `json:"history,omitempty"`
}

func viewResult(r store.Result) Result {
	return Result{
		ID: r.ID, Name: r.Name, WorkunitID: r.WorkunitID, AppID: r.AppID, Batch: r.Batch, Priority: r.Priority,
		CreateTime: UTC(r.CreateTime), AppVersionID: r.AppVersionID, VersionNum: r.VersionNum, FlopsEstimate: r.FlopsEstimate,
		PeakWorkingSet: r.PeakWorkingSet, PeakSwap: r.PeakSwap, PeakDisk: r.PeakDisk, EnergyWh: r.EnergyWh, HostID: r.HostID, UserID: r.UserID, ServerState: r.ServerState.String(),
		Outcome: r.Outcome.String(), ValidateState: r.ValidateState.String(), FileDeleteState: r.FileDeleteState.String(),
		ClientState: r.ClientState, ExitStatus: r.ExitStatus, SentTime: UTC(r.SentTime), ReportDeadline: UTC(r.ReportDeadline),
		ReceivedTime: UTC(r.ReceivedTime), CPUTime: r.CPUTime, ElapsedTime: r.ElapsedTime,
		ClaimedCredit: r.ClaimedCredit, GrantedCredit: r.GrantedCredit, StderrOut: r.StderrOut,
	}
}

// ResultBy shows the result with a number or name, or returns store.ErrNotFound.
func ResultBy(tx *store.View, id string) (*Result, error) {
	r, err := findResult(tx, id)
	if err != nil {
		return nil, err
	}
	c, err := readCatalog(tx)
	if err != nil {
		return nil, err
	}
	v := viewResult(r)
	v.describe(c, r)
	if v.Outputs, err = outputs(r); err != nil {
		return nil, err
	}
	if err := v.whose(tx); err != nil {
		return nil, err
	}
	history, err := tx.ResultHistory(r.ID)
	v.History = viewHistory("", history)
	return &v, err
}

// findResult finds a result by number or name.
func findResult(tx *store.View, id string) (store.Result, error) {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		if r, err := tx.Result(n); err == nil || !errors.Is(err, store.ErrNotFound) {
			return r, err
		}
	}
	return tx.ResultByName(id)
}
