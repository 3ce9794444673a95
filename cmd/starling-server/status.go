package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

// projectStatus is the output of `status --json`.
type projectStatus struct {
	Project   string `json:"project"`
	MasterURL string `json:"master_url"`
	counts.Status
	Check *project.Check          `json:"database_check,omitempty"` // how far it is, after a server that did not end in order
	Disk  []store.Violation       `json:"disk,omitempty"`           // that nothing can be written
	Fails []store.Violation       `json:"failing,omitempty"`        // work that daemons could not handle, and versions that fail
	Held  []allowance.Hold        `json:"held,omitempty"`           // tokens whose waiting jobs are not sent
	List  []store.WorkunitSummary `json:"workunit_list,omitempty"`
}

func statusCmd() *cobra.Command {
	var asJSON, list, wait, watch bool
	cmd := &cobra.Command{
		Use:   "status DIR",
		Short: "Show the progress of the project's work",
		Long: `Show the progress of the project's work.

With --wait the command first waits until every workunit has its outcome: its result is
stored, or the project has given it up. With --watch it prints the status again whenever it
has changed, until it is interrupted or, with --wait as well, all work is done.`,
		Example: `  starling-server status demo --wait
  starling-server status demo --watch --json | jq .workunits.assimilated`,
		Args: cobra.ExactArgs(1),
		RunE: inProject(func(ctx context.Context, p *project.Project, _ []string) error {
			show := func(st projectStatus) error {
				if asJSON {
					return printJSON(st, nil)
				}
				printStatus(st)
				return nil
			}
			if !wait && !watch {
				st, err := takeStatus(ctx, p, list)
				if err != nil {
					return err
				}
				st.Disk = operate.CheckFolders(p)
				return show(st)
			}
			noted := false
			err := followStatus(ctx, func(ctx context.Context) (projectStatus, error) { return takeStatus(ctx, p, list) },
				func(st projectStatus) (done bool, err error) {
					switch done = wait && st.Done; {
					case watch, done:
						err = show(st)
					case st.Workunits.Total == 0 && !noted:
						noted = true
						fmt.Fprintln(os.Stderr, "The project has no workunits yet. This waits until there are some, and all are done.")
					}
					return done, err
				})
			if watch && !wait && ctx.Err() != nil {
				return nil // that ends it
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&list, "workunits", false, "list the workunits too")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until all work is done")
	cmd.Flags().BoolVar(&watch, "watch", false, "print the status again whenever it changes")
	return cmd
}

func takeStatus(ctx context.Context, p *project.Project, list bool) (projectStatus, error) {
	st := projectStatus{Project: p.Config.LongName, MasterURL: p.Config.MasterURL}
	err := p.Store.View(ctx, func(tx *store.View) (err error) {
		if st.Status, err = counts.Take(tx, p.Config.Once, time.Now()); err != nil {
			return err
		}
		if st.Fails, err = pass.Advise(tx, time.Now()); err != nil {
			return err
		}
		versions, err := view.FailingVersions(tx, time.Now())
		if err != nil {
			return err
		}
		st.Fails = append(st.Fails, versions...)
		if st.Held, err = allowance.Holds(tx, time.Now()); err == nil && list {
			st.List, err = allSummaries(tx)
		}
		return err
	})
	if err == nil {
		st.Check, err = p.Check()
	}
	return st, err
}

// followStatus calls show with each status that differs from the one before, until show is done or
// fails, or ctx ends. Changes of the ages of waiting work alone do not count. Looking takes at most
// a tenth of the time, and there are at most five looks a second.
func followStatus(ctx context.Context, look func(context.Context) (projectStatus, error), show func(projectStatus) (done bool, err error)) error {
	var last projectStatus
	for first := true; ; first = false {
		began := time.Now()
		st, err := look(ctx)
		if err != nil {
			return err
		}
		ages := st.OldestAge
		st.OldestAge = nil
		if first || !reflect.DeepEqual(st, last) {
			last = st
			st.OldestAge = ages
			if done, err := show(st); done || err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(200*time.Millisecond, 9*time.Since(began))):
		}
	}
}

func allSummaries(tx *store.View) (all []store.WorkunitSummary, err error) {
	for after := int64(0); ; {
		some, err := tx.Summaries(after, bulk)
		if err != nil || len(some) == 0 {
			return all, err
		}
		all = append(all, some...)
		after = some[len(some)-1].ID
	}
}

func printStatus(st projectStatus) {
	w, r := st.Workunits, st.Results
	fmt.Printf("%s, %s\n", st.Project, st.MasterURL)
	if c := st.Check; c != nil {
		fmt.Printf("database   being checked after a server that did not end in order: %d of %d tables since %s UTC\n", c.Done, c.All, c.Since.UTC().Format(time.TimeOnly))
	}
	for _, v := range st.Disk {
		fmt.Printf("disk       %s\n           You can: %s.\n", v.Rows[0], v.Mend)
	}
	fmt.Printf("workunits  %d: %d unfinished, %d with a canonical result, %d given up, %d assimilated\n",
		w.Total, w.Unfinished, w.Canonical, w.Error, w.Assimilated)
	fmt.Printf("waiting    %d for validation, %d for assimilation, %d for file deletion\n",
		w.NeedValidate, w.WaitingAssimilate, w.WaitingFileDelete)
	var oldest []string
	for _, queue := range []struct{ name, says string }{
		{"unsent", "unsent"},
		{"transition_due", "transition due"},
		{"need_validate", "for validation"},
		{"waiting_assimilation", "for assimilation"},
		{"waiting_file_deletion", "for file deletion"},
	} {
		if age := st.OldestAge[queue.name]; age > 0 {
			oldest = append(oldest, queue.says+" "+words.Span(time.Duration(age)*time.Second))
		}
	}
	if len(oldest) > 0 {
		fmt.Printf("oldest     %s\n", strings.Join(oldest, ", "))
	}
	fmt.Printf("results    %d: %d unsent, %d in progress, %d over\n", r.Total, r.ByServerState["unsent"],
		r.ByServerState["in_progress"], r.ByServerState["over"])
	if len(r.ByOutcome) > 0 {
		var outcomes []string
		for _, name := range slices.Sorted(maps.Keys(r.ByOutcome)) {
			outcomes = append(outcomes, fmt.Sprintf("%d %s", r.ByOutcome[name], strings.ReplaceAll(name, "_", " ")))
		}
		fmt.Printf("outcomes   %s\n", strings.Join(outcomes, ", "))
	}
	fmt.Printf("volunteers %d with %s, credit %.2f\n", st.Users, words.Count(int(st.Hosts), "computer"), st.Credit)
	for _, v := range st.Fails {
		fmt.Printf("failing    %s\n           You can: %s.\n", v.Rows[0], v.Mend)
	}
	for _, f := range st.Untaken {
		fmt.Printf("untaken    %s\n           You can: %s.\n", f.Text, f.Cure)
	}
	for _, h := range st.Held {
		fmt.Printf("held       %s\n           You can: %s.\n", h.Text, h.Cure)
	}
	for _, wu := range st.List {
		fmt.Printf("  %s  %s  %d results  %v\n", wu.Name, wu.State, wu.Results, wu.Errors)
	}
}
