package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func resultCmd() *cobra.Command {
	return group("result", "Results", listCmd(view.Results), showCmd("result", func(_ project.Config, tx *store.View, id string) (any, error) { return view.ResultBy(tx, id) }))
}

func hostCmd() *cobra.Command {
	return group("host", "Computers", listCmd(view.Hosts), showCmd("host", showHost), banHostCmd(true), banHostCmd(false))
}

// showCmd prints all that is known of one row.
func showCmd(what string, show func(project.Config, *store.View, string) (any, error)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show DIR ID",
		Short: "Show a " + what + " by number or name",
		Args:  cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			v, err := store.Read(ctx, p.Store, func(tx *store.View) (any, error) { return show(p.Config, tx, args[1]) })
			if errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("no %s %s", what, args[1])
			}
			if err != nil || asJSON {
				return printJSON(v, err)
			}
			return printSheet(view.Lay(v))
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printSheet prints a sheet for people: values in two columns, then tables, then texts.
func printSheet(s *view.Sheet) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range s.Fields {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, table := range s.Tables {
		if i > 0 || len(s.Fields) > 0 {
			fmt.Println()
		}
		fmt.Printf("%s:\n", table.Name)
		fmt.Fprintln(t, strings.ToUpper(strings.Join(table.Columns, "\t")))
		for _, row := range table.Rows {
			cells := make([]string, len(row))
			for i, e := range row {
				cells[i] = e.Text
			}
			fmt.Fprintln(t, strings.Join(cells, "\t"))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	for _, text := range s.Texts {
		fmt.Printf("\n%s:\n", text.Name)
		for line := range strings.Lines(strings.TrimRight(text.Text, "\n")) {
			fmt.Println("  " + strings.TrimPrefix(view.Cell(strings.TrimRight(line, "\r\n")), "-"))
		}
	}
	return nil
}

// printJSON prints a value as JSON if err is nil, and returns an error otherwise.
func printJSON(v any, err error) error {
	if err != nil {
		return err
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func showHost(c project.Config, tx *store.View, id string) (any, error) {
	return view.HostBy(tx, id, c.ProcessorOf, time.Now())
}
