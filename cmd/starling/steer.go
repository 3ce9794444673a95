package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

const aboutProject = "PROJECT is its name or address, or the first letters of either."

// projectCmds returns the commands that do something to a project.
func projectCmds(o *options) []*cobra.Command {
	var cmds []*cobra.Command
	var now bool
	for _, c := range []struct {
		what        control.ProjectAction
		short, long string
		said        string // {project} is the project, for people, and {word} for a command
	}{
		{
			control.UpdateProject, "Contact a project now", "Contact a project now, even if it asked for a delay: report finished tasks, fetch work if more is needed, and fetch the new credit. File transfers that wait for another attempt are tried again, too. Running tasks are not affected.\n\nupdate waits up to 20 seconds for the outcome and reports it. The exit status is 1 if the contact failed.",
			"", // see update.go
		},
		{
			control.SuspendProject, "Suspend a project: no computing and no new work until resumed", "Suspend a project until it is resumed. Its tasks stop but are not lost, no work is fetched, and the project is contacted only by \"starling update\".",
			"{project} is suspended. To resume it: starling resume {word}",
		},
		{
			control.ResumeProject, "Resume a suspended project", "Resume a suspended project. Its tasks resume from their last checkpoint.",
			"{project} is resumed.",
		},
		{
			control.NoMoreWork, "Finish and report a project's current tasks, but fetch no more", "Finish and report a project's current tasks, but fetch no more. To detach without losing work, run this first and wait until \"starling tasks\" lists no more tasks of the project.",
			"{project} finishes its tasks and fetches no more. To undo this: starling allowmorework {word}",
		},
		{
			control.AllowMoreWork, "Allow a project to fetch work again", "Allow a project to fetch work again, after \"starling nomorework\".",
			"{project} may fetch work.",
		},
		{control.ResetProject, "Remove a project's tasks and download its files again; can be undone for 5 minutes", "Remove a project's tasks from this computer and download its files again. The project stays attached. The tasks are suspended first and removed after 5 minutes; until then, \"starling undo PROJECT\" keeps them.", ""},
		{
			control.UndoProject, "Undo a detach or reset, within 5 minutes", "Undo a detach or reset within 5 minutes. The project stays attached and its tasks resume.",
			"{project} stays attached.",
		},
	} {
		cmd := &cobra.Command{
			Use:   string(c.what) + " PROJECT",
			Short: c.short,
			Long:  c.long + "\n\n" + aboutProject,
			Args:  cobra.ExactArgs(1),

			ValidArgsFunction: o.urls,
			RunE: func(cmd *cobra.Command, args []string) error {
				u, err := o.project(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				client := o.client()
				if c.what == control.UpdateProject {
					return o.update(cmd, client, u)
				}
				err = o.reached(client.SteerProject(cmd.Context(), u, c.what))
				if err != nil {
					return err
				}
				if c.what == control.ResetProject {
					return o.ended(cmd, client, u, "{project} is reset.", now)
				}
				title, word := o.called(cmd.Context(), u)
				phraseln(cmd.OutOrStdout(), c.said, "project", title, "word", word)
				return nil
			},
		}
		if c.what == control.ResetProject {
			cmd.Flags().BoolVar(&now, "now", false, "remove its tasks immediately; cannot be undone")
		}
		cmds = append(cmds, cmd)
	}
	return cmds
}

func taskCmd(o *options) *cobra.Command {
	said := map[control.TaskAction]string{
		control.SuspendTask: "{task} is suspended. To resume it: starling task resume {task}",
		control.ResumeTask:  "{task} may run.",
		control.AbortTask:   "{task} is aborted, and reported at the next contact.",
		control.AbortSoon:   "{task} will be aborted in 5 minutes. To keep it: starling task resume {task}",
	}
	var project string
	var now bool
	cmd := &cobra.Command{Use: "task", Short: "Suspend, resume or abort one task"}
	for _, c := range []struct {
		what  control.TaskAction
		short string
	}{
		{control.SuspendTask, "Suspend a task until it is resumed"},
		{control.ResumeTask, "Resume a suspended task, or undo an abort"},
		{control.AbortTask, "Abort a task and report it as aborted; resume undoes this for 5 minutes"},
	} {
		sub := &cobra.Command{
			Use:   string(c.what) + " TASK",
			Short: c.short,
			Args:  cobra.ExactArgs(1),

			ValidArgsFunction: o.results,
			RunE: func(cmd *cobra.Command, args []string) error {
				what := c.what
				if what == control.AbortTask && !now {
					what = control.AbortSoon
				}
				about := project
				if about != "" {
					var err error
					if about, err = o.project(cmd.Context(), about); err != nil {
						return err
					}
				}
				err := o.reached(o.client().SteerTask(cmd.Context(), about, args[0], what))
				if err == nil {
					phraseln(cmd.OutOrStdout(), said[what], "task", args[0])
				}
				return err
			},
		}
		if c.what == control.AbortTask {
			sub.Flags().BoolVar(&now, "now", false, "abort it immediately; cannot be undone")
		}
		cmd.AddCommand(sub)
	}
	cmd.PersistentFlags().StringVar(&project, "project", "", "the task's project, if several projects have a task of that name")
	_ = cmd.RegisterFlagCompletionFunc("project", o.projectFlag)
	return cmd
}

// modeSaid confirms a mode.
func modeSaid(activity control.Activity, kind prefs.ModeKind, d time.Duration, now time.Time) string {
	of := map[control.Activity]words.Text{control.Computing: words.T("Computing"), control.Network: words.T("The network"), control.GPUs: words.T("Computing on GPUs")}[activity]
	command := "starling mode auto" + map[control.Activity]string{control.Network: " --network", control.GPUs: " --gpu"}[activity]
	if kind == prefs.Auto {
		return phrase("{activity} follows the preferences.", "activity", of)
	}
	how := map[prefs.ModeKind]words.Text{prefs.Always: words.T("always on"), prefs.Never: words.T("off")}[kind]
	if d > 0 {
		return phrase("{activity} is {mode} until {time}. To return to the preferences: {command}", "activity", of, "mode", how, "time", words.Time(now.Add(d), now), "command", command)
	}
	return phrase("{activity} is {mode} until you change it. To return to the preferences: {command}", "activity", of, "mode", how, "command", command)
}

func modeCmd(o *options) *cobra.Command {
	var network, gpu bool
	var d time.Duration
	cmd := &cobra.Command{
		Use:       "mode always|auto|never",
		Short:     "Set when to compute: always, by preferences (auto), or never",
		Long:      "Set when to compute: always, according to the preferences (auto), or never. With --network, set the same for transfers and contacts instead, with --gpu for computing on GPUs and other coprocessors. With --for, the mode returns to auto after that time.",
		Example:   "  starling mode never --for 2h\n  starling mode auto\n  starling mode never --network --for 8h",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"always", "auto", "never"},
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := control.ParseMode(args[0])
			if err != nil {
				return err
			}
			if kind == prefs.Auto && cmd.Flags().Changed("for") {
				return fault("auto lasts until you change it: leave out --for, or give it with always or never")
			}
			what := control.Computing
			switch {
			case network:
				what = control.Network
			case gpu:
				what = control.GPUs
			}
			if err := o.reached(o.client().SetMode(cmd.Context(), what, kind, d)); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), modeSaid(what, kind, d, time.Now()))
			return nil
		},
	}
	cmd.Flags().BoolVar(&network, "network", false, "set the mode of the network instead of computing")
	cmd.Flags().BoolVar(&gpu, "gpu", false, "set the mode of computing on GPUs only")
	cmd.MarkFlagsMutuallyExclusive("network", "gpu")
	cmd.Flags().DurationVar(&d, "for", 0, "how long, such as 90m or 8h (default: until changed)")
	return cmd
}
