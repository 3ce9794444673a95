package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// An appView is an application in a list.
type appView struct {
	ID             int64   `json:"id"`
	Name           string  `json:"name"`
	FriendlyName   string  `json:"user_friendly_name"`
	State          string  `json:"state"` // active or stopped
	Validator      string  `json:"validator"`
	Assimilator    string  `json:"assimilator"`
	Credit         string  `json:"credit"`
	Weight         float64 `json:"weight"`
	Trickle        string  `json:"trickle,omitempty"`
	Redundancy     int     `json:"homogeneous_redundancy"`
	SameVersion    bool    `json:"homogeneous_app_version"`
	TargetNResults int     `json:"target_nresults"`
	store.AppUse
}

func viewApps(tx *store.Tx) ([]appView, error) {
	apps, err := tx.Apps()
	if err != nil {
		return nil, err
	}
	uses, err := tx.AppUses()
	out := []appView{}
	for _, a := range apps {
		v := appView{
			ID: a.ID, Name: a.Name, FriendlyName: a.UserFriendlyName, State: "active", Validator: a.Validator,
			Assimilator: a.Assimilator, Credit: a.Credit, Weight: a.Weight, Trickle: a.Trickle,
			Redundancy: a.HomogeneousRedundancy, SameVersion: a.HomogeneousAppVersion, TargetNResults: a.TargetNResults,
			AppUse: uses[a.ID],
		}
		if a.Deprecated {
			v.State = "stopped"
		}
		if v.Credit == "" {
			v.Credit = "flops"
		}
		if v.Weight == 0 {
			v.Weight = 1
		}
		out = append(out, v)
	}
	return out, err
}

func listAppsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list DIR",
		Short: "List applications, their settings and their work",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				var list []appView
				err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
					list, err = viewApps(tx)
					return err
				})
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(list)
				}
				var rows [][]any
				for _, a := range list {
					rows = append(rows, []any{
						a.Name, a.State, a.Versions, a.Workunits, a.Unfinished, a.Unsent, a.InProgress,
						a.Validator, a.Assimilator, a.Credit, fmt.Sprint(a.Weight),
					})
				}
				return printTable("No applications.", []string{
					"APP", "STATE", "VERSIONS", "WORKUNITS", "UNFINISHED", "UNSENT", "IN PROGRESS", "VALIDATOR", "ASSIMILATOR", "CREDIT", "WEIGHT",
				}, rows)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func stopCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "stop DIR APP",
		Short: "Stop sending an application's work",
		Long: "Stop sending an application's work until app start. A running server applies that at once, and volunteers are\n" +
			"told that the application is stopped. Tasks in progress continue and their outcomes count; work can still be created.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return stopApp(cmd, args, true) },
	}
}

func startCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "start DIR APP",
		Short: "Send the work of a stopped application again",
		Args:  cobra.ExactArgs(2),
		RunE:  func(cmd *cobra.Command, args []string) error { return stopApp(cmd, args, false) },
	}
}

func stopApp(cmd *cobra.Command, args []string, stop bool) error {
	return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
		use, err := operate.StopApp(ctx, p, args[1], stop)
		if err != nil {
			return err
		}
		if stop {
			fmt.Printf("%s is stopped: %s waiting, %s in progress. To send its work again: starling-server app start %s %s\n",
				args[1], words.Count(int(use.Unsent), "task"), words.Count(int(use.InProgress), "task"), args[0], args[1])
			return nil
		}
		fmt.Printf("%s is started: %s waiting\n", args[1], words.Count(int(use.Unsent), "task"))
		return nil
	})
}
