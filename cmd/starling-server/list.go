package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// catalog names applications and versions in lists.
type catalog struct {
	apps     map[int64]string
	versions map[int64]store.AppVersion
}

func readCatalog(tx *store.Tx) (c catalog, err error) {
	c = catalog{make(map[int64]string), make(map[int64]store.AppVersion)}
	apps, err := tx.Apps()
	if err != nil {
		return c, err
	}
	for _, a := range apps {
		c.apps[a.ID] = a.Name
	}
	versions, err := tx.AllAppVersions()
	for _, v := range versions {
		c.versions[v.ID] = v
	}
	return c, err
}

// listCmd is a command that lists rows: find reads them within a transaction.
func listCmd(short, long, none string, columns []string, asJSON *bool, find func(tx *store.Tx, now time.Time) (rows [][]any, view any, err error)) *cobra.Command {
	return &cobra.Command{
		Use:   "list DIR",
		Short: short,
		Long:  long,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				var rows [][]any
				var view any
				err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
					rows, view, err = find(tx, time.Now())
					return err
				})
				switch {
				case err != nil:
					return err
				case *asJSON:
					return printJSON(view)
				}
				return printTable(none, columns, rows)
			})
		},
	}
}

// A workunitLine is a workunit in a list.
type workunitLine struct {
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

func listWorkCmd() *cobra.Command {
	var f filterFlags
	var errs string
	cmd := listCmd("List workunits", "List the newest workunits that all flags apply to. In the column RESULTS are unsent + in progress + over.",
		"No workunits.", []string{"ID", "NAME", "APP", "BATCH", "PRIORITY", "STATE", "RESULTS", "CREATED"}, &f.json,
		func(tx *store.Tx, now time.Time) (rows [][]any, view any, err error) {
			filter := store.WorkunitFilter{Batch: f.batch, HostID: f.host, Limit: f.limit}
			if filter.State, err = choose("state", f.state, workunitStates); err != nil {
				return nil, nil, err
			}
			if errs != "" {
				if filter.Errors, err = operate.ParseErrors(errs); err != nil {
					return nil, nil, err
				}
			}
			if filter.Before, filter.Since, err = f.times(now); err != nil {
				return nil, nil, err
			}
			if filter.AppID, err = f.appID(tx); err != nil {
				return nil, nil, err
			}
			list, err := workunitLines(tx, filter)
			for _, w := range list {
				state := string(w.State)
				if len(w.Errors) > 0 {
					state += ": " + strings.Join(w.Errors, ", ")
				}
				if w.Validating {
					state += ", validating"
				}
				rows = append(rows, []any{w.ID, w.Name, w.App, number0(w.Batch), w.Priority, state, fmt.Sprintf("%d + %d + %d",
					w.Results["inactive"]+w.Results["unsent"], w.Results["in_progress"], w.Results["over"]), w.CreateTime})
			}
			return rows, list, err
		})
	f.define(cmd, oneOf(workunitStates))
	cmd.Flags().StringVar(&errs, "errors", "", "only those given up for one of these reasons: "+operate.ErrorNames)
	return cmd
}

func workunitLines(tx *store.Tx, f store.WorkunitFilter) ([]workunitLine, error) {
	c, err := readCatalog(tx)
	if err != nil {
		return nil, err
	}
	list, err := tx.ListWorkunits(f)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	jobs, err := tx.Jobs(ids)
	out := []workunitLine{}
	for _, w := range list {
		line := workunitLine{
			ID: w.ID, Name: w.Name, App: c.apps[w.AppID], Batch: w.Batch, Priority: w.Priority, State: w.State(),
			Errors: append([]string{}, w.ErrorMask.Reasons()...), Validating: w.NeedValidate, Results: make(map[string]int), CreateTime: utc(w.CreateTime),
		}
		for _, r := range jobs[w.ID].Results {
			line.Results[r.ServerState.String()]++
		}
		out = append(out, line)
	}
	return out, err
}

// number0 shows a number of which 0 is none.
func number0(n int64) any {
	if n == 0 {
		return ""
	}
	return n
}

func listResultsCmd() *cobra.Command {
	var f filterFlags
	var outcome, validate string
	var user, version int64
	cmd := listCmd("List results", "List the newest results that all flags apply to. DUE is the deadline of a result in progress and the time when\nthe others were reported.",
		"No results.", []string{"ID", "NAME", "APP", "STATE", "OUTCOME", "VALIDATION", "HOST", "VERSION", "PLATFORM", "EXIT", "CREDIT", "SENT", "DUE"}, &f.json,
		func(tx *store.Tx, now time.Time) (rows [][]any, view any, err error) {
			filter := store.ResultFilter{Batch: f.batch, HostID: f.host, UserID: user, VersionID: version, Limit: f.limit}
			if filter.State, err = choose("state", f.state, serverStates); err != nil {
				return nil, nil, err
			}
			if outcome != "" {
				o, err := choose("outcome", outcome, outcomes)
				if err != nil {
					return nil, nil, err
				}
				filter.Outcome = &o
			}
			if validate != "" {
				v, err := choose("validate-state", validate, validateStates)
				if err != nil {
					return nil, nil, err
				}
				filter.Validate = &v
			}
			if filter.Before, filter.Since, err = f.times(now); err != nil {
				return nil, nil, err
			}
			if filter.AppID, err = f.appID(tx); err != nil {
				return nil, nil, err
			}
			c, err := readCatalog(tx)
			if err != nil {
				return nil, nil, err
			}
			list, err := tx.ListResults(filter)
			views := []resultView{}
			for _, r := range list {
				v := viewResult(r)
				v.StderrOut = ""
				v.describe(c, r)
				views = append(views, v)
				due, version, out, valid := v.ReceivedTime, "", "", ""
				if r.ServerState == store.InProgress {
					due = v.ReportDeadline
				}
				if r.AppVersionID != 0 {
					version = fmt.Sprintf("%d.%02d", r.VersionNum/100, r.VersionNum%100)
					if v.PlanClass != "" {
						version += " (" + v.PlanClass + ")"
					}
				}
				if r.ServerState == store.Over {
					out, valid = v.Outcome, v.ValidateState
				}
				rows = append(rows, []any{
					v.ID, v.Name, v.App, v.ServerState, out, valid, number0(v.HostID), version, v.Platform,
					number0(v.ExitStatus), v.GrantedCredit, v.SentTime, due,
				})
			}
			return rows, views, err
		})
	f.define(cmd, oneOf(serverStates))
	cmd.Flags().StringVar(&outcome, "outcome", "", "only of this outcome: "+oneOf(outcomes))
	cmd.Flags().StringVar(&validate, "validate-state", "", "only with this verdict of the validator: "+oneOf(validateStates))
	cmd.Flags().Int64Var(&user, "user", 0, "only sent to computers of the account with this number")
	cmd.Flags().Int64Var(&version, "version-id", 0, "only sent with the app version of this number (see version list)")
	return cmd
}

// A batchLine is a batch in a list.
type batchLine struct {
	store.BatchSummary
	App     string `json:"app,omitempty"`     // "" several
	Results any    `json:"results,omitempty"` // are counted by batch show alone
}

func listBatchesCmd() *cobra.Command {
	var asJSON bool
	var limit int
	cmd := listCmd("List batches and their progress", "List the batches with the highest numbers.", "No batches.",
		[]string{"BATCH", "APP", "WORKUNITS", "UNFINISHED", "CANONICAL", "ERROR", "ASSIMILATED", "CREDIT", "CREATED"}, &asJSON,
		func(tx *store.Tx, _ time.Time) (rows [][]any, view any, err error) {
			if limit < 1 {
				return nil, nil, fmt.Errorf("--limit is %d, want a number above 0", limit)
			}
			c, err := readCatalog(tx)
			if err != nil {
				return nil, nil, err
			}
			list, err := tx.Batches(limit)
			views := []batchLine{}
			for _, b := range list {
				app := c.apps[b.AppID]
				b.CreateTime = utc(b.CreateTime)
				views = append(views, batchLine{BatchSummary: b, App: app})
				if b.AppID == 0 {
					app = "several"
				}
				rows = append(rows, []any{b.Batch, app, b.Total, b.Unfinished, b.Canonical, b.Error, b.Assimilate, b.Credit, b.CreateTime})
			}
			return rows, views, err
		})
	cmd.Flags().IntVar(&limit, "limit", 50, "how many to list")
	jsonFlag(cmd, &asJSON)
	return cmd
}
