package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/logfile"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/installer"
)

// lookEvery is the interval at which log --follow asks for new lines.
const lookEvery = 300 * time.Millisecond

// openLog returns where the agent's log goes: to standard error, to record unless that is
// nil, and into the data directory unless standard error is the system's journal. The caller
// calls done in the end.
func openLog(dataDir string, s settings.Settings, record slog.Handler) (log *slog.Logger, done func() error, err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return nil, nil, err
	}
	to := []slog.Handler{slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})}
	done = func() error { return nil }
	if record != nil {
		to = append(to, record)
	}
	if s.LogMaxMB > 0 && !installer.Journal() {
		f := logfile.Open(dataDir, s.LogMaxMB, s.LogKeep)
		to, done = append(to, f.Handler(level)), f.Close
	}
	return slog.New(slog.NewMultiHandler(to...)), done, nil
}

func logCmd(o *options) *cobra.Command {
	var follow bool
	var n int
	var project string
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the agent's log",
		Long: "Show the last lines of the log: those since the start of the running agent or, if none is running, those in " + logfile.Name +
			".\n\nIf systemd runs the agent, the journal has the complete log: journalctl -u " + installer.Name,
		Example: "  starling log -f\n  starling log -n 200 --project https://project.example/",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 0 {
				return fault("log: -n {n} is negative", "n", n)
			}
			if project != "" {
				var err error
				if project, err = o.project(cmd.Context(), project); err != nil {
					return err
				}
			}
			l := logView{client: o.client(), out: cmd.OutOrStdout(), json: o.json, project: project}
			last, err := l.next(cmd.Context())
			if errors.Is(err, control.ErrNotRunning) {
				last, err = logfile.Last(o.data, n, l.wants)
				if errors.Is(err, fs.ErrNotExist) && !follow {
					return fault("no agent is running, and there is no {file} in {dir}; if systemd runs the agent, see: journalctl -u {unit}", "file", logfile.Name, "dir", o.data, "unit", installer.Name)
				} else if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
			}
			if err != nil {
				return err
			}
			if err := l.print(last[max(0, len(last)-n):]); err != nil || !follow {
				return err
			}
			return l.follow(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new lines")
	cmd.Flags().IntVarP(&n, "lines", "n", 50, "number of lines to show")
	cmd.Flags().StringVar(&project, "project", "", "show only lines about the project with this URL")
	_ = cmd.RegisterFlagCompletionFunc("project", o.projectFlag)
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line")
	return cmd
}

// A logView shows the log of an agent.
type logView struct {
	client  *control.Client
	out     io.Writer
	json    bool
	project string // "" for all

	since time.Time // the agent whose messages
	seen  int       // up to this number were had
}

func (l *logView) wants(m control.Message) bool { return l.project == "" || m.Project == l.project }

// next asks the agent for new lines that are wanted.
func (l *logView) next(ctx context.Context) ([]control.Message, error) {
	all, err := l.client.Log(ctx, l.seen)
	if err == nil && !all.Since.Equal(l.since) { // another agent's numbers
		l.since = all.Since
		if l.seen > 0 {
			all, err = l.client.Log(ctx, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	var wanted []control.Message
	for _, m := range all.Messages {
		l.seen = m.Seqno
		if l.wants(m) {
			wanted = append(wanted, m)
		}
	}
	return wanted, nil
}

// follow prints new lines until it is interrupted, over restarts of the agent too.
func (l *logView) follow(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		more, err := l.next(ctx)
		if err == nil {
			err = l.print(more)
		}
		if err != nil && !errors.Is(err, control.ErrNotRunning) && ctx.Err() == nil {
			return err
		}
	}
}

func (l *logView) print(messages []control.Message) error {
	e := json.NewEncoder(l.out)
	for _, m := range messages {
		var err error
		if l.json {
			err = e.Encode(m)
		} else {
			about := ""
			if m.Project != "" {
				about = " [" + m.Project + "]"
			}
			_, err = fmt.Fprintf(l.out, "%s %-5s%s %s\n", m.Time.Local().Format(time.DateTime), m.Level, about, strings.ReplaceAll(m.Text, "\n", "\n\t"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
