package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/remote"
)

// elsewhere marks commands that may be about another computer's agent.
const elsewhere = "elsewhere"

// anywhere marks commands so.
func anywhere(cmds ...*cobra.Command) []*cobra.Command {
	for _, c := range cmds {
		if c.Annotations == nil {
			c.Annotations = make(map[string]string)
		}
		c.Annotations[elsewhere] = "yes"
	}
	return cmds
}

// client talks to the agent that a command is about.
func (o *options) client() *control.Client {
	if o.agent != nil {
		return o.agent
	}
	return control.NewClient(o.data)
}

// reachOut settles that a command is about another computer's agent.
func (o *options) reachOut(cmd *cobra.Command) error {
	if o.data == "" {
		o.data = usersData() // for this computer's own settings, such as its proxy
	}
	o.host = remote.Address(o.host)
	if !cmd.HasParent() {
		return nil // to pair, or for help
	}
	for c := cmd; c.Annotations[elsewhere] == ""; c = c.Parent() {
		if !c.HasParent() {
			return fault("{command} works on this computer only and does not accept --host", "command", cmd.CommandPath())
		}
	}
	dir, err := remote.Dir()
	if err == nil {
		o.agent, err = remote.NewClient(dir, o.host)
	}
	return err
}

// pair makes this computer one that may control another's agent.
func (o *options) pair(cmd *cobra.Command, code string) error {
	if o.host == "" {
		return fault("--pair CODE needs the computer to pair with: add --host HOST")
	}
	dir, err := remote.Dir()
	if err != nil {
		return err
	}
	fp, err := remote.Pair(cmd.Context(), dir, o.host, code)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Paired with %s. Its certificate is\n%s.\nTry: starling --host %s status\n", o.host, fp, o.host)
	return nil
}

func remoteCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "Allow other computers to control this agent",
		Long: `Allow other computers to control this agent. Connections use TLS, and each side
accepts only the certificates of computers it is paired with.

To pair a computer:
  1. Set remote_port = 31419 in starling.toml and restart the agent.
  2. Run "starling remote pair" here to get a code, which can be used once.
  3. On the other computer, run "starling --host THIS_COMPUTER --pair CODE".

From then on, commands with --host THIS_COMPUTER control this agent: status,
tasks, why, suspend and so on.`,
	}
	pair := &cobra.Command{
		Use: "pair", Short: "Show a code for pairing one other computer", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := o.client().Invite(cmd.Context())
			if err != nil {
				return o.reached(err)
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), invitationJSON{jsonVersion, i})
			}
			fmt.Fprintf(cmd.OutOrStdout(), `code          %s
valid         until %s, for one use
certificate   %s
On the other computer: starling --host THIS_COMPUTER:%d --pair %s
`, i.Code, i.Until.Local().Format("15:04"), i.Fingerprint, i.Port, i.Code)
			return nil
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List the computers that may control this agent", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := o.client().Paired(cmd.Context())
			if err != nil {
				return o.reached(err)
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), pairedJSON{jsonVersion, all})
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "NAME\tSINCE\tCERTIFICATE")
			for _, c := range all {
				fmt.Fprintf(t, "%s\t%s\t%s\n", c.Name, c.Since.Local().Format(time.DateTime), c.Fingerprint)
			}
			return t.Flush()
		},
	}
	for _, c := range []*cobra.Command{pair, list} {
		c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	}
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a paired computer's access", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := o.reached(o.client().Revoke(cmd.Context(), args[0]))
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s can no longer control this agent. To allow it again, pair it: starling remote pair\n", args[0])
			}
			return err
		},
	}
	cmd.AddCommand(pair, list, revoke)
	return cmd
}
