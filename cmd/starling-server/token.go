package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func tokenCmd() *cobra.Command {
	return group("token", "Manage tokens with which programs submit work over HTTP", createTokenCmd(), setTokenCmd(), listCmd(view.Tokens), authenticatorCmd(), revokeTokenCmd())
}

func createTokenCmd() *cobra.Command {
	var apps []string
	limits := operate.TokenLimits{Weight: 1}
	cmd := &cobra.Command{
		Use:   "create DIR NAME",
		Short: "Create a token and print it",
		Long: "Create a token, with which a program on another computer submits work over HTTP, and print it. It is stored as a\n" +
			"hash: it cannot be shown again.",
		Args: cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			name := strings.TrimSpace(args[1])
			if name == "" || strings.ContainsAny(name, "\n\r\t()") {
				return fmt.Errorf("%q cannot be the name of a token: use letters, digits and spaces", args[1])
			}
			if err := limits.Check(); err != nil {
				return err
			}
			secret, hash := api.NewToken()
			token := store.Token{CreateTime: time.Now(), Name: name, Hash: hash, Apps: apps}
			limits.Apply(&token)
			err := p.Store.Update(ctx, func(tx *store.Tx) error {
				for _, app := range apps {
					if _, err := tx.AppByName(app); err != nil {
						return err
					}
				}
				_, err := tx.InsertToken(token)
				return err
			})
			if errors.Is(err, store.ErrExists) {
				return fmt.Errorf("there is a token called %q: revoke it first, or choose another name", name)
			}
			if err != nil {
				return err
			}
			fmt.Println(secret)
			return nil
		}),
	}
	cmd.Flags().StringSliceVar(&apps, "app", nil, "an application that it is for; may be repeated (default: all)")
	limitFlags(cmd.Flags(), &limits)
	return cmd
}

// limitFlags defines the flags for the limits of a token. Their defaults are the present values.
func limitFlags(f *pflag.FlagSet, l *operate.TokenLimits) {
	f.IntVar(&l.Quota, "quota", l.Quota, "maximum number of its unfinished workunits; 0: no limit")
	f.Float64Var(&l.MaxGB, "max-gb", l.MaxGB, "gigabytes that the project stores for it: input files of unfinished workunits, uploaded files, and the output of batches that are not retired; 0: no limit")
	f.Float64Var(&l.MaxCPUHours, "max-cpu-hours", l.MaxCPUHours, "CPU hours of its finished jobs in 30 days, after which its other jobs wait; 0: no limit")
	f.Float64Var(&l.Weight, "weight", l.Weight, "share of the computing time relative to other tokens with waiting work of the same application")
}

func setTokenCmd() *cobra.Command {
	said := operate.TokenLimits{Weight: 1}
	cmd := &cobra.Command{
		Use:   "set DIR NAME",
		Short: "Change the limits of a token",
		Long:  "Change the given limits of a token. A running server applies them within seconds.",
		Args:  cobra.ExactArgs(2), PreRunE: saysWhat,
	}
	limitFlags(cmd.Flags(), &said)
	cmd.RunE = inProject(func(ctx context.Context, p *project.Project, args []string) error {
		return operate.SetToken(ctx, p, args[1], func(l *operate.TokenLimits) {
			setGiven(cmd, func(f *pflag.FlagSet) { limitFlags(f, l) })
		})
	})
	return cmd
}

func revokeTokenCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke DIR NAME",
		Short: "Revoke a token",
		Long:  "Revoke a token. What was submitted with it stays; to end it: work cancel --batch N.",
		Args:  cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			err := operate.RevokeToken(ctx, p, args[1], time.Now())
			if err == nil {
				fmt.Printf("token %q is revoked\n", args[1])
			}
			return err
		}),
	}
}

func authenticatorCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "authenticator DIR NAME",
		Short: "Print a token's authenticator for BOINC's clients that submit work",
		Long: "Print the authenticator of a token, for programs that submit work as to a BOINC project (submit_rpc_handler.php, for\n" +
			"example with BOINC's boinc_submit.py). It allows what the token allows, until that is revoked.",
		Args: cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			list, err := store.Read(ctx, p.Store, (*store.View).Tokens)
			if err != nil {
				return err
			}
			for _, t := range list {
				if t.Name == args[1] && t.RevokedTime.IsZero() {
					fmt.Println(api.Authenticator(p.UploadKey().Text(), t.Hash))
					return nil
				}
			}
			return fmt.Errorf("there is no token called %q: starling-server token list DIR shows them", args[1])
		}),
	}
}
