package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// listCmd returns a command that lists rows, with a flag for each filter.
func listCmd(l *view.Listing) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list DIR", Short: l.Short, Long: l.Long, Args: cobra.ExactArgs(1)}
	flags := cmd.Flags()
	for _, f := range l.Filters {
		define(flags, f)
	}
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q := make(view.Query)
		for _, f := range l.Filters {
			if flags.Changed(f.Name) {
				q[f.Name] = flags.Lookup(f.Name).Value.String()
			}
		}
		return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
			list, err := store.Read(ctx, p.Store, func(tx *store.View) (view.List, error) { return l.Find(tx, q, time.Now()) })
			if bad, ok := errors.AsType[*view.FilterError](err); ok {
				return fmt.Errorf("--%w", bad)
			}
			if err != nil || asJSON {
				err = printJSON(list.Of, err)
			} else {
				err = printTable(l, list)
			}
			if n, _ := flags.GetInt64("limit"); list.Older > 0 && int64(len(list.Rows)) < n {
				fmt.Fprintf(os.Stderr, "Only the newest were searched. To search older ones, add: --below %d\n", list.Older)
			}
			return err
		})
	}
	return cmd
}

// define adds the flag for a filter.
func define(flags *pflag.FlagSet, f view.Filter) {
	about := f.About
	if len(f.Choices) > 0 {
		about += ": " + strings.Join(f.Choices, ", ")
	}
	switch f.Type {
	case view.Number:
		n, _ := strconv.ParseInt(f.Default, 10, 64)
		flags.Int64(f.Name, n, about)
	case view.Switch:
		flags.Bool(f.Name, false, about)
	default:
		flags.String(f.Name, f.Default, about)
	}
}

// printTable prints rows under the names of their columns. Without rows it prints no names.
func printTable(l *view.Listing, list view.List) error {
	if len(list.Rows) == 0 {
		fmt.Println(l.None)
		return nil
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	names := make([]string, len(l.Columns))
	for i, c := range l.Columns {
		names[i] = strings.ToUpper(c.Name)
		if _, ok := list.Rows[0][i].(time.Time); ok {
			names[i] += " (UTC)"
		}
	}
	fmt.Fprintln(t, strings.Join(names, "\t"))
	for _, row := range list.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = view.Cell(v)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}
