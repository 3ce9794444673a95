package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

// versionFlags defines the flags that name versions.
func versionFlags(cmd *cobra.Command, s *operate.VersionSpec) func(app string) operate.VersionSpec {
	var class string
	f := cmd.Flags()
	f.StringVar(&s.Number, "version", "", "major and minor number, for example 1.00")
	f.StringVar(&s.Platform, "platform", "", "only for this platform (default: all)")
	f.StringVar(&class, "plan-class", "", "only of this plan class; \"\" is none (default: all)")
	require(cmd, "version")
	return func(app string) operate.VersionSpec {
		s.App = app
		if f.Changed("plan-class") {
			s.PlanClass = &class
		}
		return *s
	}
}

func deprecateCmd() *cobra.Command {
	var s operate.VersionSpec
	var resend bool
	cmd := &cobra.Command{
		Use:     "deprecate DIR APP --version N.NN",
		Aliases: []string{"withdraw"},
		Short:   "Withdraw a version: stop sending it",
		Long: "Withdraw a version, for example because it is broken. It is no longer sent, and a running\n" +
			"server applies that at once. This cannot be undone: publish a version with a higher number.\n\n" +
			"Tasks in progress with the version continue and their outcomes count. With --resend they are taken back:\n" +
			"their computers abort them at their next contact, no failure is recorded, and new tasks are created for other\n" +
			"versions. They do count for the workunit's --max-total. Outcomes that were already reported are not changed;\n" +
			"see work retry for workunits that were given up because of the version.\n\n" +
			"Without --yes, the command only counts.",
		Example: "  starling-server version deprecate demo upper --version 1.02 --resend\n" +
			"  starling-server version deprecate demo upper --version 1.02 --platform windows_x86_64 --yes",
		Args: cobra.ExactArgs(2),
	}
	spec := versionFlags(cmd, &s)
	yes := cmd.Flags().Bool("yes", false, "withdraw the version instead of only counting")
	cmd.Flags().BoolVar(&resend, "resend", false, "take unfinished tasks back and send new ones with other versions")
	cmd.RunE = inProject(func(ctx context.Context, p *project.Project, args []string) error {
		s := spec(args[1])
		s.DryRun = !*yes
		list, err := operate.Deprecate(ctx, p, s, resend, time.Now())
		for _, w := range list {
			printWithdrawn(args[1], w, s.DryRun)
		}
		if err == nil && s.DryRun {
			fmt.Println(unchanged)
		}
		return err
	})
	return cmd
}

func printWithdrawn(app string, w operate.Withdrawn, dry bool) {
	already, is := "", "is no longer sent"
	if dry {
		is = "would no longer be sent"
	}
	if w.Deprecated {
		already, is = " (it was withdrawn before)", "is no longer sent"
	}
	fmt.Printf("%s %s%s.\n", operate.VersionName(app, w.AppVersion), is, already)
	switch {
	case w.TakenBack > 0 && dry:
		fmt.Printf("  %s would be taken back; their computers would abort them at their next contact.\n", words.Count(w.TakenBack, "task"))
	case w.TakenBack > 0:
		fmt.Printf("  %s taken back; their computers abort them at their next contact.\n", words.Count(w.TakenBack, "task"))
	case w.InProgress > 0:
		fmt.Printf("  %s in progress with it: outcomes will count. To send them again with another version, add --resend.\n",
			words.Count(w.InProgress, "task"))
	default:
		fmt.Println("  No task is in progress with it.")
	}
	if w.Last {
		left := "is left"
		if dry {
			left = "would be left"
		}
		fmt.Printf("  No version of %s %s for %s. Publish one with version add.\n", app, left, w.Platform.Name)
	}
}

func removeCmd() *cobra.Command {
	var s operate.VersionSpec
	cmd := &cobra.Command{
		Use:   "remove DIR APP --version N.NN",
		Short: "Delete the files of a withdrawn version",
		Long: "Delete the files of a withdrawn version from the download folder, except those that other versions need.\n" +
			"The version must be deprecated and have no tasks in progress.\n\n" +
			"If it was never sent, its number can be used again. Otherwise it cannot: computers keep the files of a version,\n" +
			"and would use the old ones.\n\n" +
			"Without --yes, the command only names the files.",
		Args: cobra.ExactArgs(2),
	}
	spec := versionFlags(cmd, &s)
	yes := cmd.Flags().Bool("yes", false, "delete the files instead of only naming them")
	cmd.RunE = inProject(func(ctx context.Context, p *project.Project, args []string) error {
		s := spec(args[1])
		s.DryRun = !*yes
		list, err := operate.RemoveVersion(ctx, p, s)
		for _, r := range list {
			name, number := operate.VersionName(args[1], r.AppVersion), "can be used again"
			if r.Kept {
				number = "stays taken, because computers have it"
			}
			if s.DryRun {
				fmt.Printf("%s would be removed. Files to delete: %s. Its number %s.\n", name, cmp.Or(strings.Join(r.Files, ", "), "none"), number)
				continue
			}
			fmt.Printf("%s is removed: %s deleted; its number %s\n", name, words.Count(len(r.Files), "file"), number)
		}
		if err == nil && s.DryRun {
			fmt.Println(unchanged)
		}
		return err
	})
	return cmd
}
