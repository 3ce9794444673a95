package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
)

func managerCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Have an account manager choose projects",
		Long: "Have an account manager choose the projects that this computer works for: a web site such as BAM! or Science United, where projects are picked for all your computers at once. " +
			"The agent asks it when it wants to be asked. What you change here yourself holds until the manager changes its mind.",
	}
	cmd.AddCommand(managerJoinCmd(o), managerStatusCmd(o))
	cmd.AddCommand(&cobra.Command{
		Use:   "sync",
		Short: "Ask the account manager now",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client := o.client()
			if err := client.SyncManager(cmd.Context()); err != nil {
				return o.reached(err)
			}
			return o.tellManager(cmd, client)
		},
	})
	var detach bool
	leave := &cobra.Command{
		Use:   "leave",
		Short: "Follow the account manager no more; projects stay",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := o.reached(o.client().LeaveManager(cmd.Context(), detach))
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "The account manager is not followed any more.")
			}
			return err
		},
	}
	leave.Flags().BoolVar(&detach, "detach", false, "detach from the projects that it attached; their tasks are given up")
	cmd.AddCommand(leave)
	return cmd
}

func managerJoinCmd(o *options) *cobra.Command {
	var name, password string
	var stdin bool
	cmd := &cobra.Command{
		Use:   "join URL --name N [--password P]",
		Short: "Follow an account manager",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			u, err := protocol.CanonicalMasterURL(args[0])
			if err != nil {
				return err
			}
			ask := openTerminal()
			if stdin {
				ask = nil
				if password, err = passwordFrom(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			if name == "" && ask == nil {
				return errors.New("manager join: --name is missing: the name or e-mail address of your account there")
			} else if name == "" {
				if name, err = ask.need(cmd.Context(), "Name or e-mail address of your account there"); err != nil {
					return err
				}
			}
			if password == "" && ask == nil {
				return errors.New("manager join: --password is missing, and there is no terminal to ask for it; --password-stdin reads it")
			} else if password == "" {
				if password, err = ask.password(cmd.Context(), fmt.Sprintf("Password of %s at %s", name, u)); err != nil {
					return err
				}
			}
			client := o.client()
			if err := client.JoinManager(cmd.Context(), u, name, protocol.PasswordHash(password, name)); err != nil {
				return o.reached(err)
			}
			return o.tellManager(cmd, client)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name or e-mail address of the account there")
	cmd.Flags().StringVar(&password, "password", "", "its password; asked for if it is not given")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from the first line of the standard input")
	cmd.MarkFlagsMutuallyExclusive("password", "password-stdin")
	return cmd
}

func managerStatusCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the account manager and its projects",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := o.status(cmd.Context())
			if err != nil {
				return err
			}
			if o.json {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(s.Manager)
			}
			showManager(cmd, s)
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON; null if none is followed")
	return cmd
}

// tellManager says how things are after the account manager was asked.
func (o *options) tellManager(cmd *cobra.Command, client *control.Client) error {
	s, err := client.Status(cmd.Context())
	if err == nil {
		showManager(cmd, s)
	}
	return err
}

func showManager(cmd *cobra.Command, s control.Status) {
	w, m := cmd.OutOrStdout(), s.Manager
	if m == nil {
		fmt.Fprintln(w, "No account manager is followed. Join one with: starling manager join URL --name YOU")
		return
	}
	what := m.Name
	if what == "" {
		what = m.URL
	}
	fmt.Fprintf(w, "%s\n", what)
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "  %-13s %s\n", label, fmt.Sprintf(format, args...))
	}
	line("address", "%s", m.URL)
	line("account", "%s", m.Login)
	if !m.LastContact.IsZero() {
		line("last contact", "%s", when(m.LastContact))
	}
	if m.Trouble != "" {
		line("trouble", "%s", printable(m.Trouble))
	}
	line("next contact", "%s", when(m.NextContact))
	for _, text := range m.Messages {
		line("message", "%s", printable(text))
	}
	for _, p := range s.Projects {
		if p.Manager != "" && !p.Disconnected {
			line("project", "%s, share %v", name(p), p.Share)
		}
	}
}
