package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
)

// Actions once everything is finished.
const (
	thenQuit     = "quit"
	thenSuspend  = "suspend"
	thenPoweroff = "poweroff"
)

// power has the commands of operating systems that suspend the computer or switch it off. They run
// with the rights of the user that drains, never with the rights of the agent.
var power = map[string]map[string][]string{
	"linux":   {thenSuspend: {"systemctl", "suspend"}, thenPoweroff: {"systemctl", "poweroff"}},
	"freebsd": {thenSuspend: {"acpiconf", "-s", "3"}, thenPoweroff: {"shutdown", "-p", "now"}},
	"darwin":  {thenSuspend: {"pmset", "sleepnow"}, thenPoweroff: {"osascript", "-e", `tell application "System Events" to shut down`}},
	"windows": {thenSuspend: {"rundll32.exe", "powrprof.dll,SetSuspendState", "0,1,0"}, thenPoweroff: {"shutdown", "/s", "/t", "30"}},
}

const aboutDrain = `Bring this computer to rest without losing work: fetch no more work, finish and
report the tasks that are running, and start no others. Tasks that are not
running stay on the computer and can be resumed later.

drain waits until everything is finished and reported, and prints what it is
waiting for. If you interrupt it, the drain continues, but --then has no
effect. The drain ends with --cancel, or when the agent stops.

--then suspend and --then poweroff run your system's own command with your
rights (on Linux: systemctl).`

func drainCmd(o *options) *cobra.Command {
	var then string
	var all, checkpoint, noWait, cancel bool
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Finish running tasks and start no others, for example before a shutdown",
		Long:  aboutDrain,
		Example: "  starling drain                     finish and report what is running\n" +
			"  starling drain --then poweroff     and then switch the computer off\n" +
			"  starling drain --checkpoint        stop each task at its next checkpoint\n" +
			"  starling drain --all               finish every task on this computer\n" +
			"  starling drain --cancel            resume computing",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, ctx := o.client(), cmd.Context()
			if cancel {
				s, err := client.Status(ctx)
				if err == nil {
					err = client.Drain(ctx, "")
				}
				said := "The drain is canceled."
				if s.Drain == nil {
					said = "No drain is in progress."
				}
				if err == nil {
					phraseln(cmd.OutOrStdout(), said)
				}
				return o.reached(err)
			}
			finally, err := o.finally(then, client)
			if err != nil {
				return err
			}
			scope := decide.DrainRunning
			switch {
			case all:
				scope = decide.DrainAll
			case checkpoint:
				scope = decide.DrainCheckpoint
			}
			if err := o.reached(client.Drain(ctx, scope)); err != nil {
				return err
			}
			if noWait {
				phraseln(cmd.OutOrStdout(), "This computer is draining. To see what is left: starling status. To cancel: {command}", "command", decide.CancelDrain)
				return nil
			}
			if err := o.drained(cmd, client); err != nil {
				return err
			}
			return finally(cmd)
		},
	}
	cmd.Flags().StringVar(&then, "then", "", "after that: quit (end the agent), suspend or poweroff (this computer)")
	cmd.Flags().BoolVar(&all, "all", false, "finish all tasks on this computer, not only those that are running")
	cmd.Flags().BoolVar(&checkpoint, "checkpoint", false, "stop each running task at its next checkpoint instead of finishing it")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "return at once; the drain continues")
	cmd.Flags().BoolVar(&cancel, "cancel", false, "cancel the drain: fetch work and start tasks again")
	cmd.MarkFlagsMutuallyExclusive("all", "checkpoint", "cancel")
	cmd.MarkFlagsMutuallyExclusive("then", "no-wait")
	cmd.MarkFlagsMutuallyExclusive("then", "cancel")
	_ = cmd.RegisterFlagCompletionFunc("then", cobra.FixedCompletions([]string{thenQuit, thenSuspend, thenPoweroff}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// wakeup is for how long a computer that was suspended has been awake when its drain is canceled.
const wakeup = 30 * time.Second

// finally returns the action for --then. Its error is why that action is impossible, so that the
// user does not learn it only after hours of waiting.
func (o *options) finally(then string, client *control.Client) (func(*cobra.Command) error, error) {
	rest := phrase("It is safe to shut down now. To resume computing: {command}", "command", decide.CancelDrain)
	switch then {
	case "":
		return func(cmd *cobra.Command) error {
			fmt.Fprintln(cmd.OutOrStdout(), rest)
			return nil
		}, nil
	case thenQuit:
		return func(cmd *cobra.Command) error {
			err := client.Quit(cmd.Context())
			if err == nil {
				phraseln(cmd.OutOrStdout(), "The agent is stopping. It is safe to shut down.")
			}
			return err
		}, nil
	case thenSuspend, thenPoweroff:
	default:
		return nil, fault("--then {then}: use quit, suspend or poweroff", "then", then)
	}
	command := power[runtime.GOOS][then]
	switch {
	case o.agent != nil:
		return nil, fault("--then {then} would {then} this computer, not the one that --host names; run it there, or use --then quit", "then", then)
	case command == nil:
		return nil, fault("--then {then} is not available on {system}; use --then quit", "then", then, "system", runtime.GOOS)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, fault("--then {then} needs the command {command}, which is not installed; use --then quit", "then", then, "command", command[0])
	}
	return func(cmd *cobra.Command) error {
		phraseln(cmd.OutOrStdout(), "Running: {command}", "command", strings.Join(command, " "))
		run := exec.CommandContext(cmd.Context(), command[0], command[1:]...)
		run.Stdin, run.Stdout, run.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		if err := run.Run(); err != nil {
			return fmt.Errorf("%s: %w. %s", strings.Join(command, " "), err, rest)
		}
		if then == thenPoweroff {
			return nil
		}
		select { // this clock stands still while the computer sleeps
		case <-cmd.Context().Done():
			return nil
		case <-time.After(wakeup):
		}
		return client.Drain(cmd.Context(), "")
	}, nil
}

// drained waits until a drain is finished, and prints the remaining work whenever the numbers
// change.
func (o *options) drained(cmd *cobra.Command, client *control.Client) error {
	said := ""
	for {
		s, err := client.Status(cmd.Context())
		switch {
		case errors.Is(err, context.Canceled):
			return fault("no longer waiting; the drain continues. To cancel it: {command}", "command", decide.CancelDrain)
		case err != nil:
			return words.Explain(err, words.T("the drain ended with the agent: {why}", "why", sysfault.Text(err)))
		case s.Drain == nil:
			return fault("the drain was canceled, or the agent was restarted")
		case s.Drain.Done:
			phraseln(cmd.OutOrStdout(), "Nothing is left to finish or report.")
			return nil
		}
		if text := waits(s); text != said {
			fmt.Fprintln(cmd.OutOrStdout(), text)
			said = text
		}
		select {
		case <-cmd.Context().Done():
		case <-time.After(drainLook):
		}
	}
}

// drainLook is the interval at which drain asks for the remaining work.
const drainLook = time.Second

// waits returns a sentence about the work that a drain waits for, and about anything that delays
// it.
func waits(s control.Status) string {
	all := []words.Text{words.T("Draining: {left}.", "left", s.Drain.Left)}
	if s.Drain.Tasks > 0 && s.Compute != "" {
		all = append(all, words.T("Computing is suspended."), words.Plain(printable(s.Compute)))
	}
	if s.Network != "" {
		all = append(all, words.T("Network activity is suspended."), words.Plain(printable(s.Network)))
	}
	return local(words.And(all...))
}

// showDrain prints the progress of a drain, if one is in progress.
func showDrain(w display, s control.Status) {
	switch d := s.Drain; {
	case d == nil:
		return
	case d.Done:
		fmt.Fprintln(w, w.paint(yellow, phrase("Drained: nothing is left to finish or report, and no task starts.")))
	default:
		fmt.Fprintln(w, w.paint(yellow, phrase("Draining since {since}: {left}. No other tasks start.", "since", when(d.Since), "left", d.Left)))
	}
	showCure(w, phrase("Resume computing with: {command}", "command", decide.CancelDrain))
}
