package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func resultCmd() *cobra.Command {
	return group("result", "Results", listResultsCmd(), showCmd("result", showResult))
}

func hostCmd() *cobra.Command {
	return group("host", "Computers", listHostsCmd(), showCmd("host", showHost), banHostCmd(true), banHostCmd(false))
}

// showCmd prints one row as JSON, which people can read too.
func showCmd(what string, show func(project.Config, *store.Tx, string) (any, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show DIR ID",
		Short: "Show a " + what + " by number or name",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				var v any
				err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
					v, err = show(p.Config, tx, args[1])
					return err
				})
				if errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf("no %s %s", what, args[1])
				}
				if err != nil {
					return err
				}
				return printJSON(v)
			})
		},
	}
	cmd.Flags().Bool("json", true, "print JSON, which is the only form")
	return cmd
}

func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// Rows as people see them: with the columns' names, states in words, and times
// that can be read.

type workunitView struct {
	ID                int64        `json:"id"`
	Name              string       `json:"name"`
	CreateTime        time.Time    `json:"create_time"`
	Batch             int64        `json:"batch"`
	Priority          int64        `json:"priority"`
	TargetNResults    int          `json:"target_nresults"`
	MinQuorum         int          `json:"min_quorum"`
	CanonicalResultID int64        `json:"canonical_resultid"`
	CanonicalCredit   float64      `json:"canonical_credit"`
	NeedValidate      bool         `json:"need_validate"`
	Errors            []string     `json:"errors"`
	AssimilateState   string       `json:"assimilate_state"`
	FileDeleteState   string       `json:"file_delete_state"`
	TransitionTime    string       `json:"transition_time"`
	Results           []resultView `json:"results"`
	App               int64        `json:"appid"`
	AppName           string       `json:"app"`
	State             string       `json:"state"`
	MaxErrorResults   int          `json:"max_error_results"`
	MaxTotalResults   int          `json:"max_total_results"`
	MaxSuccessResults int          `json:"max_success_results"`
	DelayBound        float64      `json:"delay_bound"` // seconds
	RscFpopsEst       float64      `json:"rsc_fpops_est"`
	RscFpopsBound     float64      `json:"rsc_fpops_bound"`
	RscMemoryBound    float64      `json:"rsc_memory_bound"`
	RscDiskBound      float64      `json:"rsc_disk_bound"`
	RscBandwidthBound float64      `json:"rsc_bandwidth_bound,omitempty"`
	Credit            float64      `json:"credit,omitempty"`
	CommandLine       string       `json:"command_line"`
	ResultTemplate    string       `json:"result_template_file"`
	Inputs            []fileView   `json:"inputs"`
	HRClass           int64        `json:"hr_class,omitempty"`
	AppVersionID      int64        `json:"app_version_id,omitempty"` // with homogeneous app version
	Retries           int          `json:"retries,omitempty"`
	Predecessor       int64        `json:"predecessor,omitempty"`
	TargetType        string       `json:"target_type,omitempty"` // host or user; "" anybody
	TargetID          int64        `json:"target_id,omitempty"`
	LastChance        bool         `json:"last_chance,omitempty"` // one more failure gives it up
	Awaiting          bool         `json:"awaiting,omitempty"`
	AwaitedFiles      []string     `json:"awaited_files,omitempty"`
	History           []eventView  `json:"history"`
}

// An eventView is a move in the story of a row.
type eventView struct {
	Time  time.Time `json:"time,omitzero"`
	By    string    `json:"by,omitempty"`
	Cause string    `json:"cause,omitempty"`
	Of    string    `json:"of,omitempty"` // the result, in the story of its workunit
	Move  string    `json:"move"`
}

func viewHistory(of string, history []store.Event) []eventView {
	out := []eventView{}
	for _, e := range history {
		out = append(out, eventView{utc(e.Time), e.By, e.Why, of, e.Move})
	}
	return out
}

type resultView struct {
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
	FlopsEstimate   float64   `json:"flops_estimate"` // operations a second that the host was told
	PeakWorkingSet  float64   `json:"peak_working_set_size"`
	PeakSwap        float64   `json:"peak_swap_size"`
	PeakDisk        float64   `json:"peak_disk_usage"`
	StderrOut       string    `json:"stderr_out,omitempty"`

	Outputs []fileView  `json:"outputs,omitempty"`
	Host    *hostLine   `json:"host,omitempty"`
	User    *userLine   `json:"user,omitempty"`
	History []eventView `json:"history,omitempty"`
}

func viewResult(r store.Result) resultView {
	return resultView{
		ID: r.ID, Name: r.Name, WorkunitID: r.WorkunitID, AppID: r.AppID, Batch: r.Batch, Priority: r.Priority,
		CreateTime: utc(r.CreateTime), AppVersionID: r.AppVersionID, VersionNum: r.VersionNum, FlopsEstimate: r.FlopsEstimate,
		PeakWorkingSet: r.PeakWorkingSet, PeakSwap: r.PeakSwap, PeakDisk: r.PeakDisk, HostID: r.HostID, UserID: r.UserID, ServerState: r.ServerState.String(),
		Outcome: r.Outcome.String(), ValidateState: r.ValidateState.String(), FileDeleteState: r.FileDeleteState.String(),
		ClientState: r.ClientState, ExitStatus: r.ExitStatus, SentTime: utc(r.SentTime), ReportDeadline: utc(r.ReportDeadline),
		ReceivedTime: utc(r.ReceivedTime), CPUTime: r.CPUTime, ElapsedTime: r.ElapsedTime,
		ClaimedCredit: r.ClaimedCredit, GrantedCredit: r.GrantedCredit, StderrOut: r.StderrOut,
	}
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

func showWorkunit(_ project.Config, tx *store.Tx, id string) (any, error) {
	wu, err := workunitBy(tx, id)
	if err != nil {
		return nil, err
	}
	v := workunitView{
		ID: wu.ID, Name: wu.Name, CreateTime: wu.CreateTime.UTC(), Batch: wu.Batch, Priority: wu.Priority,
		TargetNResults: wu.TargetNResults, MinQuorum: wu.MinQuorum, CanonicalResultID: wu.CanonicalResultID,
		CanonicalCredit: wu.CanonicalCredit, NeedValidate: wu.NeedValidate, Errors: wu.ErrorMask.Reasons(),
		AssimilateState: wu.AssimilateState.String(), FileDeleteState: wu.FileDeleteState.String(),
		TransitionTime: wu.TransitionTime.UTC().Format(time.RFC3339), Results: []resultView{},
		State: string(wu.State()), MaxErrorResults: wu.MaxErrorResults, MaxTotalResults: wu.MaxTotalResults,
		MaxSuccessResults: wu.MaxSuccessResults, DelayBound: wu.DelayBound.Seconds(), RscFpopsEst: wu.RscFpopsEst,
		RscFpopsBound: wu.RscFpopsBound, RscMemoryBound: wu.RscMemoryBound, RscDiskBound: wu.RscDiskBound,
		RscBandwidthBound: wu.RscBandwidthBound, Credit: wu.Credit, ResultTemplate: wu.ResultTemplateFile, HRClass: wu.HRClass,
		AppVersionID: wu.AppVersionID, Retries: wu.Retries,
		App: wu.AppID, Predecessor: wu.Predecessor, Awaiting: wu.Awaiting, LastChance: wu.LastChance,
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
	slices.SortStableFunc(v.History, func(a, b eventView) int { return a.Time.Compare(b.Time) })
	return v, nil
}

func showResult(_ project.Config, tx *store.Tx, id string) (any, error) {
	r, err := resultBy(tx, id)
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
	return v, err
}

// resultBy finds a result by number or name.
func resultBy(tx *store.Tx, id string) (store.Result, error) {
	if n, ok := number(id); ok {
		if r, err := tx.Result(n); err == nil || !errors.Is(err, store.ErrNotFound) {
			return r, err
		}
	}
	return tx.ResultByName(id)
}

func showHost(c project.Config, tx *store.Tx, id string) (any, error) {
	n, ok := number(id)
	if !ok {
		return nil, store.ErrNotFound
	}
	h, err := tx.Host(n)
	if err != nil {
		return nil, err
	}
	earned, err := viewVersions(tx, h.ID, c.ProcessorOf)
	if err != nil {
		return nil, err
	}
	files, err := tx.HostFiles(h.ID)
	if err != nil {
		return nil, err
	}
	held := []heldView{}
	for _, f := range files {
		held = append(held, heldView(f))
	}
	results, err := tx.ResultsOfHost(h.ID, latest)
	if err != nil {
		return nil, err
	}
	list := []resultView{}
	for _, r := range results {
		v := viewResult(r)
		v.StderrOut = ""
		history, err := tx.ResultHistory(r.ID)
		if err != nil {
			return nil, err
		}
		v.History = viewHistory("", history)
		list = append(list, v)
	}
	coprocs := h.Coprocessors()
	if coprocs == nil {
		coprocs = []store.Coproc{}
	}
	return map[string]any{
		"id": h.ID, "userid": h.UserID, "client_version": h.Client, "last_ip_addr": h.LastIPAddr, "external_ip_addr": h.ExternalIPAddr, "create_time": utc(h.CreateTime), "rpc_time": utc(h.RPCTime),
		"rpc_seqno": h.RPCSeqno, "domain_name": h.DomainName, "p_ncpus": h.NCPUs, "p_model": h.Model,
		"p_fpops": h.Fpops, "m_nbytes": h.MemBytes, "d_free": h.DiskFree, "os_name": h.OSName,
		"os_version": h.OSVersion, "total_credit": h.TotalCredit,
		"expavg_credit":  credit.Decayed(h.ExpavgCredit, h.ExpavgTime, time.Now()),
		"avg_turnaround": h.AvgTurnaround, "max_results_day": h.MaxResultsDay, "nresults_today": h.NResultsToday,
		"app_versions": earned, "coprocs": coprocs, "files": held, "file_orders": h.FileOrders, "results": list,
	}, nil
}

// latest is how many results of a host are shown.
const latest = 20
