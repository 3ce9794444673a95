package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

func noticesCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notices [PROJECT]",
		Short: "Show news and notices from projects",
		Long: fmt.Sprintf(`Show what your projects announced in the last 30 days, the newest first: their news, and messages from their schedulers that need your attention.

The agent reads a project's news as often as the project asks, usually once a day, through the proxy and only while the network may be used. To read it now, run: starling update PROJECT

With --json, print {"version": %d, "notices": [...]}. Times are RFC 3339; text is plain text.`, jsonVersion),
		Example:           "  starling notices\n  starling notices Einstein\n  starling notices --json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.urls,
		RunE: func(cmd *cobra.Command, args []string) error {
			project := ""
			if len(args) > 0 {
				var err error
				if project, err = o.project(cmd.Context(), args[0]); err != nil {
					return err
				}
			}
			all, err := o.notices(cmd.Context(), project)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if o.json {
				return writeJSON(out, noticesJSON{jsonVersion, all})
			}
			if len(all) == 0 {
				fmt.Fprintln(out, "No news and no notices from projects in the last 30 days.")
				return nil
			}
			d := displayOn(out)
			for i, n := range all {
				if i > 0 {
					fmt.Fprintln(d)
				}
				showNotice(d, n, time.Now())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// notices asks the agent, or reads its files if none runs.
func (o *options) notices(ctx context.Context, project string) ([]control.Notice, error) {
	all, err := o.client().Notices(ctx, project)
	if errors.Is(err, control.ErrNotRunning) {
		return api.OfflineNotices(o.data, project)
	}
	return all, err
}

// showNotice writes a notice in lines that fit the window.
func showNotice(d display, n control.Notice, now time.Time) {
	fmt.Fprintln(d, d.paint(bold, headline(n, now)))
	width := d.width
	if width <= 0 || width > 100 {
		width = 100
	}
	for text := range strings.Lines(printable(n.Text)) {
		for _, line := range wrap(strings.TrimRight(text, "\n"), width-2) {
			fmt.Fprintln(d, strings.TrimRight("  "+line, " "))
		}
	}
	if n.Link != "" {
		fmt.Fprintln(d, "  "+printable(n.Link))
	}
}

// headline returns a notice in one line: its time, project and title.
func headline(n control.Notice, now time.Time) string {
	text := day(n.Time, now) + "  " + name(control.Project{Name: n.ProjectName, MasterURL: n.Project})
	if n.Title != "" {
		text += ": " + n.Title
	}
	return printable(text)
}

// day returns a day, or for today the time.
func day(t, now time.Time) string {
	if t = t.Local(); t.Format(time.DateOnly) != now.Local().Format(time.DateOnly) {
		return t.Format(time.DateOnly)
	}
	return local(words.Time(t, now))
}

// wrap breaks a line between words, so that each is of so many characters at most if its
// words are.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}

const (
	newsLately = 7 * 24 * time.Hour // how long status shows news
	mostNews   = 3                  // of a project
)

// showNews shows the latest news of a project. Messages of its scheduler have already been shown.
func showNews(line func(label, format string, args ...any), all []control.Notice, project string, now time.Time) {
	shown := 0
	for _, n := range all {
		if n.Project != project || n.Kind != control.News || now.Sub(n.Time) >= newsLately || shown == mostNews {
			continue
		}
		shown++
		line("news", "%s: %s", day(n.Time, now), printable(n.Title))
	}
	if shown > 0 {
		line("", "to read it: starling notices")
	}
}
