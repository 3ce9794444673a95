package cli_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/cli"
)

func TestStatus(t *testing.T) {
	for line, want := range map[string]int{
		"":                      0,
		"group":                 0,
		"group good":            0,
		"group bad":             1,
		"nonsense":              2,
		"group good x":          2,
		"group nonsense":        2,
		"group good --nonsense": 2,
	} {
		group := &cobra.Command{Use: "group"}
		group.AddCommand(
			&cobra.Command{Use: "good", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }},
			&cobra.Command{Use: "bad", RunE: func(*cobra.Command, []string) error { return errors.New("failed") }},
		)
		root := &cobra.Command{Use: "program", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(group)
		cli.Strict(root)
		root.SetArgs(strings.Fields(line))
		root.SetOut(io.Discard)
		err := root.Execute()
		if got := cli.Status(err); got != want {
			t.Errorf("program %s: exit status %d, want %d: %v", line, got, want, err)
		}
	}
}
