package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func showUserCmd() *cobra.Command {
	cmd := showCmd("account", func(_ project.Config, tx *store.View, who string) (any, error) {
		return view.UserBy(tx, who, time.Now())
	})
	cmd.Use, cmd.Short = "show DIR ACCOUNT", "Show an account and its computers, by number or e-mail address"
	return cmd
}

func passwdCmd() *cobra.Command {
	var password string
	cmd := &cobra.Command{
		Use:   "passwd DIR ACCOUNT",
		Short: "Set the password of an account",
		Long: "Set the password of an account, by number or e-mail address. Without --password, a random one is made and\n" +
			"printed. The account is logged out of the web pages. Its computers stay attached.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				if cmd.Flags().Changed("password") {
					return operate.SetPassword(ctx, p, args[1], password)
				}
				made := operate.RandomPassword()
				if err := operate.SetPassword(ctx, p, args[1], made); err != nil {
					return err
				}
				fmt.Println(made)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&password, "password", "", "the new password (default: a random one)")
	return cmd
}

func banUserCmd(ban bool) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "ban DIR ACCOUNT",
		Short: "Ban an account",
		Long: "Ban an account, by number or e-mail address. Its computers get no tasks, it can add none, and its owner cannot\n" +
			"log in. They see that the account is banned, and the reason. Tasks that its computers have may still be reported and are\n" +
			"credited if they are valid.",
		Args: cobra.ExactArgs(2),
	}
	if ban {
		cmd.Flags().StringVar(&reason, "reason", "", "the reason, for the owner to read")
	} else {
		cmd.Use, cmd.Short, cmd.Long = "unban DIR ACCOUNT", "Lift the ban of an account", ""
	}
	cmd.RunE = inProject(func(ctx context.Context, p *project.Project, args []string) error {
		u, err := operate.Ban(ctx, p, args[1], ban, reason, time.Now())
		if err != nil {
			return err
		}
		what := "banned"
		if !ban {
			what = "no longer banned"
		}
		fmt.Printf("account %d (%s) is %s\n", u.ID, view.Cell(u.EmailAddr), what)
		return nil
	})
	return cmd
}

func trustUserCmd(trust bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust DIR ACCOUNT",
		Short: "Let an account's results decide about suspicious ones",
		Long: "Trust an account, by number or e-mail address. If a validator finds a result suspicious, further results of the\n" +
			"workunit are sent to computers of trusted accounts only, and the first that is returned decides.",
		Args: cobra.ExactArgs(2),
	}
	state := "trusted"
	if !trust {
		cmd.Use, cmd.Short, cmd.Long = "untrust DIR ACCOUNT", "End the trust in an account", ""
		state = "no longer trusted"
	}
	cmd.RunE = inProject(func(ctx context.Context, p *project.Project, args []string) error {
		u, err := operate.Trust(ctx, p, args[1], trust, time.Now())
		if err == nil {
			fmt.Printf("account %d (%s) is %s\n", u.ID, view.Cell(u.EmailAddr), state)
		}
		return err
	})
	return cmd
}

func deleteUserCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete DIR ACCOUNT",
		Short: "Delete an account and its owner's personal data",
		Long: "Delete an account, by number or e-mail address: name, address, password, key and preferences, and the names and\n" +
			"addresses of its computers. It cannot be restored. Tasks on its computers are given up and sent to others. Its\n" +
			"results and credit stay, for an account without a name, so that the project's sums remain true.\n\n" +
			"Without --yes, the command only counts what depends on the account.",
		Args: cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			if !yes {
				use, err := operate.UseOf(ctx, p, args[1])
				if err == nil {
					fmt.Printf("Account %d (%s) has %s and credit of %.2f. %s would be given up.\n%s\n", use.ID, view.Cell(use.EmailAddr),
						words.Count(use.Computers, "computer"), use.TotalCredit, words.Count(use.InProgress, "task"), unchanged)
				}
				return err
			}
			n, err := operate.Delete(ctx, p, args[1], time.Now())
			if err != nil {
				return err
			}
			fmt.Printf("account %s is deleted; %s given up\n", args[1], words.Count(n, "task"))
			return nil
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete the account instead of only counting")
	return cmd
}
