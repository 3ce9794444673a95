package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

func managerCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Use an account manager to choose projects",
		Long: "Use an account manager to choose the projects of this computer. An account manager is a web site, such as BAM! or Science United, where you choose projects for all your computers at once.\n\n" +
			"The agent contacts it as often as the account manager requests. Your own changes stay in effect until the account manager changes the same setting.",
	}
	cmd.AddCommand(managerJoinCmd(o), managerStatusCmd(o))
	cmd.AddCommand(&cobra.Command{
		Use:   "sync",
		Short: "Contact the account manager now",
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
		Short: "Stop using the account manager; projects stay attached",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := o.reached(o.client().LeaveManager(cmd.Context(), detach))
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "Left the account manager.")
			}
			return err
		},
	}
	leave.Flags().BoolVar(&detach, "detach", false, "also detach from the projects that it attached and remove their tasks")
	cmd.AddCommand(leave)
	return cmd
}

func managerJoinCmd(o *options) *cobra.Command {
	var name, password string
	var stdin bool
	cmd := &cobra.Command{
		Use:   "join URL --name N [--password P]",
		Short: "Start using an account manager",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			u, err := settings.MasterURL(args[0])
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
				return fault("manager join: --name is required: the name or e-mail address of your account there")
			} else if name == "" {
				if name, err = ask.need(cmd.Context(), "Name or e-mail address of your account there"); err != nil {
					return err
				}
			}
			if password == "" && ask == nil {
				return fault("manager join: --password or --password-stdin is required when there is no terminal")
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
	cmd.Flags().StringVar(&password, "password", "", "password of the account; prompted for if not given")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from the first line of standard input")
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
				return writeJSON(cmd.OutOrStdout(), managerJSON{jsonVersion, s.Manager})
			}
			showManager(cmd, s)
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON; manager is null if there is none")
	return cmd
}

// tellManager prints the state after the account manager was asked.
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
		fmt.Fprintln(w, "No account manager is in use. Join one with: starling manager join URL --name YOU")
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
	line("URL", "%s", m.URL)
	line("account", "%s", m.Login)
	if !m.LastContact.IsZero() {
		line("last contact", "%s", when(m.LastContact))
	}
	if m.Trouble != "" {
		line("problem", "%s", printable(m.Trouble))
		line("you can", "%s", printable(m.TroubleCure))
	}
	line("next contact", "%s", when(m.NextContact))
	for _, text := range m.Messages {
		line("message", "%s", printable(text))
	}
	for _, p := range s.Projects {
		if p.Manager != "" && !p.Disconnected {
			line("project", "%s, share %v", name(p), words.Float(p.Share))
		}
	}
}
