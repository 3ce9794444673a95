package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func resultCmd() *cobra.Command {
	return group("result", "Results", listCmd(view.Results), showCmd("result", showResult))
}

func hostCmd() *cobra.Command {
	return group("host", "Computers", listCmd(view.Hosts), showCmd("host", showHost), banHostCmd(true), banHostCmd(false))
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

func showWorkunit(_ project.Config, tx *store.Tx, id string) (any, error) {
	return view.WorkunitBy(tx, id)
}

func showResult(_ project.Config, tx *store.Tx, id string) (any, error) {
	return view.ResultBy(tx, id)
}

func showHost(c project.Config, tx *store.Tx, id string) (any, error) {
	return view.HostBy(tx, id, c.ProcessorOf, time.Now())
}
