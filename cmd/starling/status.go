package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/state"
)

func statusCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what the agent does, and why nothing else",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(cmd, o, func(w io.Writer, s control.Status) {
				for _, c := range s.Complaints {
					fmt.Fprintf(w, "Settings: %s\n", c)
				}
				if r := s.Newer; r != nil {
					fmt.Fprintf(w, "Starling %s is out, this is %s. See %s\n", r.Version, s.Version, r.URL)
				}
				if len(s.Projects) == 0 {
					fmt.Fprintln(w, "Attached to no project. Choose one with: starling attach")
				}
				for _, p := range s.Projects {
					showProject(w, p)
				}
				if s.Compute != "" {
					fmt.Fprintf(w, "Computing is suspended. %s\n", s.Compute)
				}
				if s.Network != "" {
					fmt.Fprintf(w, "The network is not used. %s\n", s.Network)
				}
				running := 0
				for _, t := range s.Tasks {
					if t.Running {
						running++
					}
				}
				fmt.Fprintf(w, "%d tasks, %d running on %d CPUs, %d transfers.\n", len(s.Tasks), running, s.CPUs, len(s.Transfers))
			})
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func showProject(w io.Writer, p control.Project) {
	fmt.Fprintf(w, "%s\n", name(p))
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "  %-13s %s\n", label, fmt.Sprintf(format, args...))
	}
	line("address", "%s", p.MasterURL)
	if p.Manager != "" {
		line("manager", "%s", p.Manager)
	}
	if p.UserName != "" {
		line("account", "%s, credit %.2f (this computer %.2f)", p.UserName, p.UserCredit, p.HostCredit)
	}
	line("tasks", "%d", p.Tasks)
	switch {
	case p.Debt >= 60:
		line("owed", "%s of CPU time, for its resource share of %v", span(p.Debt), p.Share)
	case p.Debt <= -60:
		line("ahead", "%s of CPU time, for its resource share of %v", span(-p.Debt), p.Share)
	}
	if !p.LastContact.IsZero() {
		line("last contact", "%s", when(p.LastContact))
	}
	if p.Trouble != "" {
		line("trouble", "%s", p.Trouble)
	}
	if !p.NextContact.IsZero() {
		line("next contact", "not before %s", when(p.NextContact))
	}
	if p.Work != "" {
		line("work", "%s", p.Work)
	}
	for _, n := range p.Notices {
		line("message", "%s", n)
	}
}

func tasksCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List the tasks on this computer",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(cmd, o, func(w io.Writer, s control.Status) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "TASK\tAPP\tSTATE\tDONE\tELAPSED\tLEFT\tDEADLINE\tWHY")
				for _, k := range s.Tasks {
					st := k.State
					if k.Running {
						st = "running"
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%.1f%%\t%s\t%s\t%s\t%s\n", k.Name, k.App, st, 100*k.Fraction,
						span(k.Elapsed), span(k.Remaining), when(k.Deadline), k.Why)
				}
				_ = t.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func projectsCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "List the projects",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(cmd, o, func(w io.Writer, s control.Status) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "PROJECT\tADDRESS\tSHARE\tOWED\tTASKS\tCREDIT\tWORK")
				for _, p := range s.Projects {
					fmt.Fprintf(t, "%s\t%s\t%v\t%s\t%d\t%.2f\t%s\n", name(p), p.MasterURL, p.Share, span(p.Debt), p.Tasks, p.UserCredit, p.Work)
				}
				_ = t.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func transfersCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "transfers",
		Short: "List the files on their way",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(cmd, o, func(w io.Writer, s control.Status) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "FILE\tDIRECTION\tBYTES\tSIZE\tSTATE")
				for _, x := range s.Transfers {
					dir, st := "download", "waiting"
					if x.Upload {
						dir = "upload"
					}
					switch {
					case x.Active:
						st = "under way"
					case x.Trouble != "":
						st = x.Trouble + "; again " + when(x.NextTry)
					}
					fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\n", x.Name, dir, x.Bytes, x.Size, st)
				}
				_ = t.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// show prints the status of the running agent, or of its files when none runs.
func show(cmd *cobra.Command, o *options, human func(io.Writer, control.Status)) error {
	s, err := fetchStatus(cmd.Context(), o.data)
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	if !s.Running {
		fmt.Fprintln(cmd.ErrOrStderr(), "starling: no agent is running; "+o.start())
	}
	human(cmd.OutOrStdout(), s)
	return nil
}

func fetchStatus(ctx context.Context, data string) (control.Status, error) {
	s, err := control.NewClient(data).Status(ctx)
	if !errors.Is(err, control.ErrNotRunning) {
		return s, err
	}
	s, err = agent.Offline(data, version.Version)
	if errors.Is(err, state.ErrInUse) {
		return s, fmt.Errorf("an agent runs in %s but does not answer", data)
	}
	return s, err
}

func name(p control.Project) string {
	if p.Name != "" {
		return p.Name
	}
	return p.MasterURL
}

func when(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case time.Until(t).Abs() < 12*time.Hour:
		return t.Local().Format("15:04:05")
	}
	return t.Local().Format("2006-01-02 15:04")
}

func span(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}
