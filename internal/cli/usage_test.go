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
		"group god":             2,
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
		if line == "group god" && !strings.Contains(err.Error(), ", did you mean good?") {
			t.Error(err)
		}
	}
}

// TestMissingFlags expects an error that names all flags that a command line lacks.
func TestMissingFlags(t *testing.T) {
	for line, want := range map[string]string{
		"":                          `--name and --url are required; see: program --help`,
		"--name x --main f":         `--url is required; see: program --help`,
		"--name x --url y":          `one of --main and --image is required; see: program --help`,
		"--name x --url y --main f": "",
		"--help":                    "",
	} {
		cmd := &cobra.Command{Use: "program", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		for _, name := range []string{"name", "url", "main", "image"} {
			cmd.Flags().String(name, "", "")
		}
		for _, name := range []string{"name", "url"} {
			if err := cmd.MarkFlagRequired(name); err != nil {
				t.Fatal(err)
			}
		}
		cmd.MarkFlagsOneRequired("main", "image")
		cli.Strict(cmd)
		cmd.SetOut(io.Discard)
		cmd.SetArgs(strings.Fields(line))
		switch err := cmd.Execute(); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", line, err)
		case want != "" && (err == nil || err.Error() != want || cli.Status(err) != 2):
			t.Errorf("%s: got %v (exit status %d), want %s", line, err, cli.Status(err), want)
		}
	}
}

// TestFlagValues expects errors that describe a flag's values without a parser's words.
func TestFlagValues(t *testing.T) {
	for line, want := range map[string]string{
		"--for=soon": `--for: "soon" is not a time span, such as 90s, 30m or 2h30m`,
		"-n=many":    `--lines: "many" is not a whole number`,
		"--days=x":   `--days: "x" is not a number`,
		"--yes=x":    `--yes: "x" is not true or false`,
		"--other":    `unknown flag: --other; see: program --help`,
		"--line 3":   `unknown flag: --line, did you mean --lines?; see: program --help`,
		"--up-to=3":  `unknown flag: --up-to; see: program --help`,
		"--days-ago": `unknown flag: --days-ago, did you mean --days?; see: program --help`,
		"-5":         `-5 is read as a flag; to pass a negative number, put -- before it; see: program --help`,
		"--up --yes": `--up and --yes cannot be used together; see: program --help`,
		"x":          `unexpected argument "x"; usage: program [flags]; see: program --help`,
	} {
		cmd := &cobra.Command{Use: "program", Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		cmd.Flags().Duration("for", 0, "")
		cmd.Flags().IntP("lines", "n", 0, "")
		cmd.Flags().Float64("days", 0, "")
		cmd.Flags().Bool("yes", false, "")
		cmd.Flags().Bool("up", false, "")
		cmd.MarkFlagsMutuallyExclusive("yes", "up")
		cli.Strict(cmd)
		cmd.SetArgs(strings.Fields(line))
		if err := cmd.Execute(); err == nil || err.Error() != want || cli.Status(err) != 2 {
			t.Errorf("%s: got %v (exit status %d), want %s", line, err, cli.Status(err), want)
		}
	}
}

// TestArguments expects errors that name the arguments that are missing or too many.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		use, line string
		args      cobra.PositionalArgs
		want      string
	}{
		{"program DIR APP --name N", "", cobra.ExactArgs(2), `DIR and APP are required; usage: program DIR APP --name N [flags]; see: program --help`},
		{"program DIR APP", "a", cobra.ExactArgs(2), `DIR and APP are required, and there is only "a"; usage: program DIR APP [flags]; see: program --help`},
		{"program DIR APP", "a b c d", cobra.ExactArgs(2), `unexpected argument "c"; usage: program DIR APP [flags]; see: program --help`},
		{"program DIR ID …", "a", cobra.MinimumNArgs(2), `DIR and ID are required, and there is only "a"; usage: program DIR ID … [flags]; see: program --help`},
		{"program [ID]", "a b", cobra.MaximumNArgs(1), `unexpected argument "b"; usage: program [ID] [flags]; see: program --help`},
		{"program on|off", "", cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), `on|off is required; usage: program on|off [flags]; see: program --help`},
		{"program on|off", "of", cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), `invalid argument "of" for "program"; usage: program on|off [flags]; see: program --help`},
	} {
		cmd := &cobra.Command{Use: c.use, Args: c.args, ValidArgs: []string{"on", "off"}, SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		cmd.Flags().String("name", "", "")
		cli.Strict(cmd)
		cmd.SetArgs(strings.Fields(c.line))
		if err := cmd.Execute(); err == nil || err.Error() != c.want || cli.Status(err) != 2 {
			t.Errorf("%s: %s: got %v (exit status %d), want %s", c.use, c.line, err, cli.Status(err), c.want)
		}
	}
}
