package main

import (
	"encoding/json"
	"errors"
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
			return fmt.Errorf("%s is about this computer alone and takes no --host", cmd.CommandPath())
		}
	}
	dir, err := remote.Dir()
	if err == nil {
		o.agent, err = remote.NewClient(dir, o.host)
	}
	return err
}

// pair makes this computer one that may steer another's agent.
func (o *options) pair(cmd *cobra.Command, code string) error {
	if o.host == "" {
		return errors.New("--pair CODE: with which computer? Give --host HOST as well")
	}
	dir, err := remote.Dir()
	if err != nil {
		return err
	}
	fp, err := remote.Pair(cmd.Context(), dir, o.host, code)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Paired with %s, whose certificate is\n%s.\nNow: starling --host %s status\n", o.host, fp, o.host)
	return nil
}

func remoteCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "Let other computers steer this one's agent",
		Long: `Let other computers steer this one's agent, by TLS with certificates that both sides
know of each other. Set remote_port = 31419 in starling.toml and restart the agent;
"starling remote pair" shows a code; at the other computer,
"starling --host THIS_COMPUTER --pair CODE" uses it up, once and for all.
From then on: starling --host THIS_COMPUTER status, tasks, why, suspend …`,
	}
	pair := &cobra.Command{
		Use: "pair", Short: "Show a code with which one other computer may pair", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := o.client().Invite(cmd.Context())
			if err != nil {
				return o.reached(err)
			}
			if o.json {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(i)
			}
			fmt.Fprintf(cmd.OutOrStdout(), `code          %s
valid         until %s, once
certificate   %s
At the other computer: starling --host THIS_COMPUTER:%d --pair %s
`, i.Code, i.Until.Local().Format("15:04"), i.Fingerprint, i.Port, i.Code)
			return nil
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List the computers that may steer this one's agent", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := o.client().Paired(cmd.Context())
			if err != nil {
				return o.reached(err)
			}
			if o.json {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(all)
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
		Use: "revoke NAME", Short: "Let a computer steer this one's agent no more", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.reached(o.client().Revoke(cmd.Context(), args[0]))
		},
	}
	cmd.AddCommand(pair, list, revoke)
	return cmd
}
