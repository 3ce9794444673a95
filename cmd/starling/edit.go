package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

func setPrefCmd(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "set NAME VALUE",
		Short: "Set one computing preference",
		Long: "Set one computing preference. It takes effect immediately and overrides " + settings.PrefsFile + ";\n" +
			"\"starling prefs unset NAME\" returns to the value there. VALUE is a number, or yes or no.\n" +
			"To list the preferences: starling prefs show",
		Example: "  starling prefs set max_cpus 2\n  starling prefs set run_on_batteries yes",
		Args:    cobra.ExactArgs(2),

		ValidArgsFunction: prefNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := prefs.Value(args[0], args[1])
			if err != nil {
				return err
			}
			if err := o.reached(o.client().SetPref(cmd.Context(), args[0], &v)); err != nil {
				return err
			}
			return o.holds(cmd, args[0], " To undo this: starling prefs unset "+args[0])
		},
	}
}

func unsetPrefCmd(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "unset NAME",
		Short: "Undo prefs set, for one computing preference",
		Long:  "Undo \"starling prefs set\" for one computing preference, whoever set it: this command, the dashboard or BOINC's tools. The value of " + settings.PrefsFile + ", the project's web site or the default takes effect immediately.",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: prefNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.reached(o.client().SetPref(cmd.Context(), args[0], nil)); err != nil {
				return err
			}
			return o.holds(cmd, args[0], "")
		},
	}
}

// holds prints the value of a preference in effect, and how to undo a change.
func (o *options) holds(cmd *cobra.Command, name, undo string) error {
	p, err := o.client().Prefs(cmd.Context())
	if err != nil {
		return err
	}
	for _, k := range prefs.Keys() {
		if k.Name == name {
			fmt.Fprintf(cmd.OutOrStdout(), "%s is %s (%s).%s\n", name, strings.TrimSpace(k.Show(&p.Prefs)+" "+k.Unit), filepath.Base(p.Origin[name]), undo)
		}
	}
	return nil
}

func prefNames(_ *cobra.Command, args []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, k := range prefs.Keys() {
			all = append(all, cobra.CompletionWithDesc(k.Name, k.About))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

func editPrefsCmd(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "Edit " + settings.PrefsFile + " in your editor",
		Long: "Open " + settings.PrefsFile + " in your editor (VISUAL or EDITOR). When you leave the editor, the file is checked and takes\n" +
			"effect immediately. A file with errors changes nothing: you get the errors and can edit it again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := o.client().PrefsFile(cmd.Context())
			if err != nil {
				return o.reached(err)
			}
			if text == "" {
				text = prefs.Reference()
			}
			return o.edit(cmd, text)
		},
	}
}

// edit lets a person change the text of prefs.toml, until it has no errors or they give up.
func (o *options) edit(cmd *cobra.Command, text string) error {
	dir, err := os.MkdirTemp("", "starling-")
	if err != nil {
		return err
	}
	file, before := filepath.Join(dir, settings.PrefsFile), text
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	for {
		if err := runEditor(cmd.Context(), cmd.InOrStdin(), file); err != nil {
			return err
		}
		b, err := foreigndir.ReadFile(file, settings.MaxFile)
		if err != nil {
			return err
		}
		if text = string(b); text == before {
			fmt.Fprintln(cmd.OutOrStdout(), "Nothing was changed.")
			return os.RemoveAll(dir)
		}
		err = o.client().SetPrefsFile(cmd.Context(), text)
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), "Preferences saved; they are in effect.")
			return os.RemoveAll(dir)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), local(sysfault.Text(err)))
		fmt.Fprint(cmd.ErrOrStderr(), "Nothing was changed. Edit the file again? [Y/n] ")
		var answer string
		if _, errAnswer := fmt.Fscanln(cmd.InOrStdin(), &answer); errors.Is(errAnswer, io.EOF) || strings.HasPrefix(strings.ToLower(answer), "n") {
			return words.Explain(err, words.T("{why}\nyour text is in {file}", "why", sysfault.Text(err), "file", file))
		}
	}
}

// runEditor runs the person's editor on a file.
func runEditor(ctx context.Context, in io.Reader, file string) error {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = map[bool]string{true: "notepad", false: "vi"}[runtime.GOOS == "windows"]
	}
	words := append(strings.Fields(editor), file) // it may have arguments
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = in, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fault("editor {editor}: {why}; choose another: EDITOR=nano starling prefs edit", "editor", strconv.Quote(editor), "why", err.Error())
	}
	return nil
}

func shareCmd(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "share PROJECT SHARE",
		Short: "Set the resource share of a project",
		Long: "Set the resource share of a project: its part of the computing time, relative to the shares of the other projects.\n" +
			"100 is usual. A project with 200 gets twice as much as one with 100. One with 0 gets work only if no other has any.\n\n" + aboutProject,
		Example: "  starling share Einstein 200",
		Args:    cobra.ExactArgs(2),

		ValidArgsFunction: o.urls,
		RunE: func(cmd *cobra.Command, args []string) error {
			share, err := strconv.ParseFloat(args[1], 64)
			if err != nil {
				return fault("{value} is not a number; {remedy}", "value", strconv.Quote(args[1]), "remedy", words.Or(tomlfile.Decimal(args[1]), words.T("100 is usual")))
			}
			u, err := o.project(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			before, err := o.client().Status(cmd.Context())
			if err != nil {
				return o.reached(err)
			}
			if err := o.client().SetShare(cmd.Context(), u, share); err != nil {
				return err
			}
			s, err := o.client().Status(cmd.Context())
			if err != nil {
				return err
			}
			title, word := o.called(cmd.Context(), u)
			was, _ := shareOf(before, u)
			if is, part := shareOf(s, u); is == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "%s has a share of 0: it gets work only if no other project has any. To undo this: starling share %s %v\n", title, word, words.Float(was))
			} else {
				fmt.Fprintf(cmd.OutOrStdout(), "%s has a share of %v, %.0f %% of the computing time. To undo this: starling share %s %v\n", title, words.Float(is), 100*part, word, words.Float(was))
			}
			return nil
		},
	}
}

// shareOf returns the share of a project, and its part of the sum of all shares.
func shareOf(s control.Status, masterURL string) (share, part float64) {
	sum := 0.0
	for _, p := range s.Projects {
		if sum += p.Share; p.MasterURL == masterURL {
			share = p.Share
		}
	}
	if sum > 0 {
		part = share / sum
	}
	return share, part
}
