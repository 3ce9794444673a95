package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func tokenCmd() *cobra.Command {
	return group("token", "Manage tokens with which programs submit work over HTTP", createTokenCmd(), listCmd(view.Tokens), authenticatorCmd(), revokeTokenCmd())
}

func createTokenCmd() *cobra.Command {
	var apps []string
	var quota int
	cmd := &cobra.Command{
		Use:   "create DIR NAME",
		Short: "Create a token and print it",
		Long: "Create a token, with which a program on another computer submits work over HTTP, and print it. It is stored as a\n" +
			"hash: it cannot be shown again.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				name := strings.TrimSpace(args[1])
				if name == "" || strings.ContainsAny(name, "\n\r\t()") {
					return fmt.Errorf("%q cannot be the name of a token: use letters, digits and spaces", args[1])
				}
				if quota < 0 {
					return fmt.Errorf("--quota is %d, want 0 (no limit) or more", quota)
				}
				secret, hash := api.NewToken()
				err := p.Store.Update(ctx, func(tx *store.Tx) error {
					for _, app := range apps {
						if _, err := tx.AppByName(app); err != nil {
							return err
						}
					}
					_, err := tx.InsertToken(store.Token{CreateTime: time.Now(), Name: name, Hash: hash, Apps: apps, Quota: quota})
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
			})
		},
	}
	cmd.Flags().StringSliceVar(&apps, "app", nil, "an application that it is for; may be repeated (default: all)")
	cmd.Flags().IntVar(&quota, "quota", 0, "how many of its workunits may be unfinished at a time; 0: no limit")
	return cmd
}

func revokeTokenCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke DIR NAME",
		Short: "Revoke a token",
		Long:  "Revoke a token. What was submitted with it stays; to end it: work cancel --batch N.",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.RevokeToken(args[1], time.Now()) })
				if errors.Is(err, store.ErrLost) {
					return fmt.Errorf("there is no token called %q: starling-server token list DIR shows them", args[1])
				}
				if err == nil {
					fmt.Printf("token %q is revoked\n", args[1])
				}
				return err
			})
		},
	}
}

func authenticatorCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "authenticator DIR NAME",
		Short: "Print what BOINC's clients for submitting work show instead of a token",
		Long: "Print the authenticator of a token, for programs that submit work as to a BOINC project (submit_rpc_handler.php, for\n" +
			"example with BOINC's boinc_submit.py). It allows what the token allows, until that is revoked.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				var list []store.Token
				err := p.Store.View(ctx, func(tx *store.View) (err error) {
					list, err = tx.Tokens()
					return err
				})
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
			})
		},
	}
}
