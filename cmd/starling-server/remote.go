package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/api/client"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/operate/view"
)

// tokenVariable is the environment variable with a token.
const tokenVariable = "STARLING_TOKEN"

func remoteCmd() *cobra.Command {
	cmd := group("remote", "Submit work to a project from another computer, over its HTTP API",
		submitCmd(), estimateCmd(), batchesCmd(), limitsCmd(), fetchCmd(), giveUpCmd(), retireCmd())
	cmd.Long = "Submit work to a project from another computer, follow it and fetch its results. URL is the project's. The\n" +
		"project's operator makes a token (token create); it is read from --token-file or the environment variable\n" + tokenVariable + "."
	return cmd
}

// remote adds the flags that all of these commands have, and runs fn with a client.
func remote(cmd *cobra.Command, fn func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	var file string
	var patience time.Duration
	cmd.Flags().StringVar(&file, "token-file", "", "file with the token (default: the environment variable "+tokenVariable+")")
	cmd.Flags().DurationVar(&patience, "patience", time.Minute, "how long to try again while the project does not answer")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		token := os.Getenv(tokenVariable)
		if file != "" {
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			token = string(b)
		}
		if token = strings.TrimSpace(token); token == "" {
			return errors.New("there is no token: set " + tokenVariable + ", or name a file with --token-file; the project's operator makes one with starling-server token create")
		}
		if u, err := url.Parse(args[0]); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("%q is not a project's URL: write one such as https://project.example/", args[0])
		}
		c := &client.Client{URL: args[0], Token: token, Patience: patience}
		return fn(cmd.Context(), c, args[1:])
	}
	return cmd
}

func submitCmd() *cobra.Command {
	var s wire.Submission
	var input, cmdline, out string
	var wait, dry bool
	cmd := &cobra.Command{
		Use:   "submit URL APP FILE …",
		Short: "Submit a batch of workunits",
		Long: "Submit a batch. Each FILE becomes a workunit of that name, with the file as its only input. A folder becomes one\n" +
			"whose inputs are the files in it, each under its own name. A FILE that is an http:// or https:// address is one that\n" +
			"the project fetches and sends to computers; \"URL BYTES MD5\" is one that computers fetch from there.\n\n" +
			"If you repeat the command with the same --name, nothing is created twice. With --wait, the command ends when every workunit\n" +
			"has its outcome, and --output saves those below a folder, as fetch does.",
		Example: "  starling-server remote submit https://project.example/ primes --name run-1 --wait --output results candidates/*.txt",
		Args:    cobra.MinimumNArgs(3),
	}
	f := cmd.Flags()
	f.StringVar(&s.Name, "name", "", "name of the batch, of your choice")
	f.StringVar(&input, "input", "in", "name by which the application opens a file that is the only input")
	f.StringVar(&cmdline, "cmdline", "", "command-line arguments of the program")
	f.IntVar(&s.Quorum, "quorum", 0, "number of results that must agree (default: the application's)")
	f.Int64Var(&s.Priority, "priority", 0, "priority; higher is sent first")
	f.Float64Var(&s.DelayBound, "delay-bound", 0, "seconds until a result must be reported (default 604800)")
	f.Float64Var(&s.FpopsEst, "rsc-fpops-est", 0, "floating point operations expected (default 3.6e12)")
	f.BoolVar(&wait, "wait", false, "wait until every workunit has its outcome")
	f.StringVar(&out, "output", "", "folder for the output files; implies --wait")
	f.BoolVar(&dry, "dry-run", false, "submit nothing, and print the cost and the estimated end of the batch")
	require(cmd, "name")
	return remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		s.App = args[0]
		for _, path := range args[1:] {
			wu, err := workunitOf(path, input)
			if err != nil {
				return err
			}
			wu.CommandLine = cmdline
			s.Workunits = append(s.Workunits, wu)
		}
		if dry {
			e, err := c.DryRun(ctx, s)
			if err == nil {
				fmt.Printf("%s, %s, %.3g floating-point operations\n", words.Count(int(e.Workunits), "workunit"), words.Count(int(e.Results), "result"), e.Flops)
				fmt.Printf("%s of input, at most %s of output\n", words.Bytes(e.InputBytes), words.Bytes(e.OutputBytes))
				fmt.Println(e.Text)
			}
			return err
		}
		b, err := c.Submit(ctx, s)
		if err != nil {
			return err
		}
		fmt.Printf("batch %d (%s): %s\n", b.ID, b.Name, words.Count(b.Workunits, "workunit"))
		if !wait && out == "" {
			return nil
		}
		return follow(ctx, c, b.ID, out)
	})
}

// follow waits for a batch and saves its results, if a folder is named. It returns an error if
// workunits were given up.
func follow(ctx context.Context, c *client.Client, id int64, out string) error {
	b, err := c.Wait(ctx, id, func(b wire.Batch) {
		fmt.Printf("%3.0f %%  %d unfinished, %d succeeded, %d failed\n", 100*b.Fraction, b.Unfinished, b.Succeeded, b.Failed)
	})
	if err != nil && ctx.Err() != nil {
		return errors.New("stopped waiting; the project continues with the batch, and the same command waits for it again")
	}
	if err == nil && out != "" {
		err = save(ctx, c, id, out)
	}
	if err == nil && b.Failed > 0 {
		err = fmt.Errorf("%s given up; remote fetch --json says why", words.Count(int(b.Failed), "workunit"))
	}
	return err
}

func estimateCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "estimate URL BATCH", Short: "Estimate when a batch will be done",
		Long: "Estimate when a batch will be done: by its own pace from ten finished workunits on, before that as if the computers\n" +
			"that were active in the last 7 days computed nothing else. For one that is not submitted yet: submit --dry-run.",
		Args: cobra.ExactArgs(2),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := findBatch(ctx, c, args[0])
		if err != nil {
			return err
		}
		e, err := c.Estimate(ctx, id)
		if err != nil || asJSON {
			return printJSON(e, err)
		}
		fmt.Printf("%s left, %s\n", words.Count(int(e.Workunits), "workunit"), e.Text)
		return nil
	})
}

func batchesCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list URL", Short: "List the batches of the token", Args: cobra.ExactArgs(1)}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Batches(ctx)
		if err != nil || asJSON {
			return printJSON(list, err)
		}
		var rows view.List
		for _, b := range list {
			rows.Rows = append(rows.Rows, []any{b.ID, b.Name, b.Workunits, b.Unfinished, b.Succeeded, b.Failed, b.Fetchable, b.Created})
		}
		return printTable(&view.Listing{None: "No batches.", Columns: []view.Column{
			{Name: "Batch"}, {Name: "Name"}, {Name: "Workunits"}, {Name: "Unfinished"}, {Name: "Succeeded"}, {Name: "Failed"}, {Name: "Fetchable"}, {Name: "Created"},
		}}, rows)
	})
}

func limitsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "limits URL", Short: "Show the limits of the token and what is used of them", Args: cobra.ExactArgs(1),
		Long: "Show the limits of the token and what is used of them. The project's operator sets them (token set).",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		t, err := c.Limits(ctx)
		if err != nil || asJSON {
			return printJSON(t, err)
		}
		if t.Held != "" {
			fmt.Println(t.Held)
		}
		var rows view.List
		for _, l := range allowance.Lines(t) {
			rows.Rows = append(rows.Rows, []any{l.Limit.String(), l.Used.String(), l.Allowed.String()})
		}
		return printTable(&view.Listing{Columns: []view.Column{{Name: "Limit"}, {Name: "Used"}, {Name: "Allowed"}}}, rows)
	})
}

func fetchCmd() *cobra.Command {
	var out string
	var wait, asJSON bool
	cmd := &cobra.Command{
		Use:   "fetch URL BATCH",
		Short: "Save the output files of a batch",
		Long: "Save the output files of a batch, by its number or name, as WORKUNIT/FILE below --output. Files that are there already\n" +
			"with the right size are not fetched again. With --json, print what became of each workunit and fetch nothing.",
		Args: cobra.ExactArgs(2),
	}
	cmd.Flags().StringVar(&out, "output", ".", "folder for the output files")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until every workunit has its outcome")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what became of each workunit instead")
	return remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := findBatch(ctx, c, args[0])
		switch {
		case err != nil:
			return err
		case asJSON:
			list := []wire.Outcome{}
			err := c.Outcomes(ctx, id, func(o wire.Outcome) error {
				list = append(list, o)
				return nil
			})
			return printJSON(list, err)
		case wait:
			return follow(ctx, c, id, out)
		}
		return save(ctx, c, id, out)
	})
}

func giveUpCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "cancel URL BATCH", Short: "Give up the unfinished workunits of a batch", Args: cobra.ExactArgs(2)}
	return end(cmd, (*client.Client).Cancel, "%s cancelled\n")
}

func retireCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "retire URL BATCH", Short: "Delete the output of a batch from the project, once you have it",
		Long: "Delete the output of a batch that is done from the project's disk. This cannot be undone: fetch it first.",
		Args: cobra.ExactArgs(2),
	}
	return end(cmd, (*client.Client).Retire, "the output of %s deleted\n")
}

// end makes a command that ends a batch and prints with how many workunits.
func end(cmd *cobra.Command, how func(*client.Client, context.Context, int64) (int, error), format string) *cobra.Command {
	return remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := findBatch(ctx, c, args[0])
		if err != nil {
			return err
		}
		n, err := how(c, ctx, id)
		if err == nil {
			fmt.Printf(format, words.Count(n, "workunit"))
		}
		return err
	})
}

// findBatch returns the number of a batch, which is given by its number or name.
func findBatch(ctx context.Context, c *client.Client, text string) (int64, error) {
	if id, ok := number(text); ok {
		return id, nil
	}
	list, err := c.Batches(ctx)
	if err != nil {
		return 0, err
	}
	for _, b := range list {
		if b.Name == text {
			return b.ID, nil
		}
	}
	return 0, fmt.Errorf("%q is neither the number nor the name of a batch: starling-server remote list %s shows them", text, c.URL)
}

// save saves the output files of a batch that are not there yet.
func save(ctx context.Context, c *client.Client, id int64, out string) error {
	saved := 0
	err := c.Outcomes(ctx, id, func(o wire.Outcome) error {
		for _, f := range o.Files {
			name := filepath.Join(o.Name, filepath.FromSlash(f.Name))
			if !filepath.IsLocal(name) {
				return fmt.Errorf("the project names a file %q, which is outside of the folder", f.Name)
			}
			path := filepath.Join(out, name)
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Size() == f.Size {
				continue
			}
			if err := saveFile(ctx, c, id, o.Name, f.Name, path); err != nil {
				return err
			}
			saved++
		}
		return nil
	})
	if err == nil || saved > 0 {
		fmt.Printf("%s saved in %s\n", words.Count(saved, "file"), out)
	}
	if err != nil {
		return err
	}
	b, err := c.Batch(ctx, id)
	if missing := b.Missing(); missing != nil {
		return missing
	}
	return err
}

// saveFile saves one, whole or not at all.
func saveFile(ctx context.Context, c *client.Client, id int64, workunit, file, path string) error {
	r, err := c.Open(ctx, id, workunit, file)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // results, for whom the user chooses
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	_, err = io.Copy(part, r)
	if err = errors.Join(err, part.Close()); err != nil {
		return fmt.Errorf("%s of %s: %w", file, workunit, err)
	}
	return os.Rename(part.Name(), path)
}
