package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"golang.org/x/term"
)

// patience is how long attach watches a running agent make contact.
const patience = 30 * time.Second

func attachCmd(o *options) *cobra.Command {
	var key, email, password string
	cmd := &cobra.Command{
		Use:   "attach URL (--key ACCOUNT_KEY | --email E [--password P])",
		Short: "Attach to a project",
		Long:  "Attach to a project, with the account key that its web site shows, or with the e-mail address and password of the account there. It works with the agent running and without it.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := protocol.CanonicalMasterURL(args[0])
			if err != nil {
				return err
			}
			if key == "" && email == "" {
				return errors.New("attach: which account? Give --key, or --email and --password")
			}
			if key == "" {
				if key, err = lookup(cmd.Context(), o.data, u, email, password); err != nil {
					return err
				}
			}
			client := o.client()
			err = client.Attach(cmd.Context(), u, protocol.Authenticator(key))
			if err == nil {
				return watchAttach(cmd, client, u)
			} else if !errors.Is(err, control.ErrNotRunning) {
				return err
			}
			acc := settings.Account{MasterURL: u, Authenticator: protocol.Authenticator(key), ResourceShare: 100}
			if err := settings.WriteAccount(o.data, acc); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Attached to %s. No agent is running; %s\n", u, o.start())
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "account key")
	cmd.Flags().StringVar(&email, "email", "", "e-mail address of the account")
	cmd.Flags().StringVar(&password, "password", "", "password of the account; asked for if it is not given")
	return cmd
}

// lookup gets the account key for an e-mail address and a password.
func lookup(ctx context.Context, dataDir, masterURL, email, password string) (string, error) {
	if password == "" {
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			return "", errors.New("attach: --password is missing, and there is no terminal to ask for it")
		}
		fmt.Fprintf(os.Stderr, "Password of %s at %s: ", email, masterURL)
		b, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(os.Stderr)
		if err != nil {
			return "", err
		}
		password = string(b)
	}
	s, err := settings.Load(dataDir)
	if err != nil && !errors.Is(err, fs.ErrPermission) { // another user's agent
		return "", err
	}
	way, err := httpclient.Transport(s.Proxy, s.NoProxy)
	if err != nil {
		return "", err
	}
	c := schedulerop.Client{HTTP: httpclient.New(way), UserAgent: "Starling " + version.Version}
	key, err := c.Lookup(ctx, masterURL, email, password)
	return string(key), err
}

// watchAttach waits for the project's first answer to a running agent.
func watchAttach(cmd *cobra.Command, client *control.Client, u string) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		s, err := client.Status(ctx)
		if err != nil {
			return err
		}
		for _, p := range s.Projects {
			switch {
			case p.MasterURL != u:
			case p.Initialized && p.HostID == 0:
				// The project answered, but knows no such account.
				return errors.Join(fmt.Errorf("attach %s: refused: %s", u, strings.Join(p.Notices, "; ")), client.Detach(ctx, u))
			case p.Initialized:
				fmt.Fprintf(out, "Attached to %s as %s (computer %d).\n", name(p), p.UserName, p.HostID)
				return nil
			case p.Trouble != "":
				fmt.Fprintf(out, "Attached to %s, which does not answer yet: %s\nThe agent keeps trying.\n", u, p.Trouble)
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	fmt.Fprintf(out, "Attached to %s; it has not answered yet, and the agent keeps trying.\n", u)
	return nil
}

func detachCmd(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "detach URL",
		Short: "Detach from a project; its tasks on this computer are given up",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: o.urls,
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := protocol.CanonicalMasterURL(args[0])
			if err != nil {
				return err
			}
			err = o.client().Detach(cmd.Context(), u)
			if errors.Is(err, control.ErrNotRunning) {
				err = settings.RemoveAccount(o.data, u) // the next agent removes what is left
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "Detached from %s.\n", u)
			}
			return err
		},
	}
}
