package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web"
)

func serveCmd() *cobra.Command {
	var listen, roles, shard string
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Run the project until interrupted",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var part server.Part
			var err error
			if part.Roles, err = server.ParseRoles(roles); err != nil {
				return err
			}
			if part.Shard, err = server.ParseShard(shard); err != nil {
				return err
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error { return serve(ctx, p, part, listen) })
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on (default: server.toml's, or the port of the project's URL)")
	cmd.Flags().StringVar(&roles, "roles", "", "what this process does: a list of "+strings.Join(server.Roles, ",")+" (default: all)")
	cmd.Flags().StringVar(&shard, "shard", "", "I/N: process I (from 0) of N that divide the daemons' work by id (default: all of it)")
	return cmd
}

func serve(ctx context.Context, p *project.Project, part server.Part, listen string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	var l net.Listener
	at := ""
	if part.Answers() {
		var err error
		if l, err = new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(listen, p.Config.ListenAddr())); err != nil {
			return err
		}
		at = l.Addr().String()
	}
	log.Info("serving", "project", p.Config.LongName, "master_url", p.Config.MasterURL, "listen", at)
	server.RareGC()
	err := server.New(p, part).Serve(ctx, l)
	log.Info("stopped")
	return err
}

// projectStatus is what `status --json` prints.
type projectStatus struct {
	Project   string `json:"project"`
	MasterURL string `json:"master_url"`
	web.Status
	List []store.WorkunitSummary `json:"workunit_list,omitempty"`
}

func statusCmd() *cobra.Command {
	var asJSON, list bool
	cmd := &cobra.Command{
		Use:   "status DIR",
		Short: "Show the progress of the project's work",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				st := projectStatus{Project: p.Config.LongName, MasterURL: p.Config.MasterURL}
				err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
					if st.Status, err = web.TakeStatus(tx, time.Now()); err == nil && list {
						st.List, err = allSummaries(tx)
					}
					return err
				})
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(st)
				}
				printStatus(st)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&list, "workunits", false, "list the workunits too")
	return cmd
}

func allSummaries(tx *store.Tx) (all []store.WorkunitSummary, err error) {
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
	fmt.Printf("workunits  %d: %d unfinished, %d with a canonical result, %d given up, %d assimilated\n",
		w.Total, w.Unfinished, w.Canonical, w.Error, w.Assimilated)
	fmt.Printf("waiting    %d for validation, %d for assimilation, %d for file deletion\n",
		w.NeedValidate, w.WaitingAssimilate, w.WaitingFileDelete)
	age := func(what string) time.Duration { return time.Duration(st.OldestAge[what]) * time.Second }
	fmt.Printf("oldest     unsent %v, transition due %v, for validation %v, for assimilation %v, for file deletion %v\n",
		age("unsent"), age("transition_due"), age("need_validate"), age("waiting_assimilation"), age("waiting_file_deletion"))
	fmt.Printf("results    %d: %d unsent, %d in progress, %d over\n", r.Total, r.ByServerState["unsent"],
		r.ByServerState["in_progress"], r.ByServerState["over"])
	outcomes, _ := json.Marshal(r.ByOutcome) // sorted by name
	fmt.Printf("outcomes   %s\n", outcomes)
	fmt.Printf("volunteers %d with %d computers, credit %.2f\n", st.Users, st.Hosts, st.Credit)
	for _, f := range st.Untaken {
		fmt.Printf("untaken    %s\n           You can: %s.\n", f.Text, f.Cure)
	}
	for _, wu := range st.List {
		fmt.Printf("  %s  %s  %d results  %v\n", wu.Name, wu.State, wu.Results, wu.Errors)
	}
}
