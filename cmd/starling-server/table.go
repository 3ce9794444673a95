package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// printTable prints rows under the names of their columns; without rows it prints none.
func printTable(none string, columns []string, rows [][]any) error {
	if len(rows) == 0 {
		fmt.Println(none)
		return nil
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}

// cell writes a value so that each column of a line has something in it, and nothing that
// would break the line or drive the terminal: names come from volunteers.
func cell(v any) string {
	var s string
	switch v := v.(type) {
	case time.Time:
		if !v.IsZero() {
			s = v.UTC().Format("2006-01-02 15:04")
		}
	case float64:
		s = fmt.Sprintf("%.2f", v)
	default:
		s = fmt.Sprint(v)
	}
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return '?'
		}
		return c
	}, s)
	if s == "" {
		return "-"
	}
	return s
}

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print JSON")
}
