package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control/notify"
	"github.com/starling-grid/starling/agent/desktop"
	"github.com/starling-grid/starling/agent/session"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/words"
)

func sessionCmd(o *options) *cobra.Command {
	var look bool
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Report the use of this desktop session to the agent",
		Long: "Report to the agent how long this desktop session has been without input, until the session ends. A service cannot see the desktop, so it needs this helper to notice that you are using the computer. It reports nothing else: neither keys nor windows.\n\n" +
			"It also shows a desktop notification when something needs you, such as an account key that a project rejects, at most one a day for each cause. An icon in the panel has a menu to pause, to resume and to open the dashboard. For both, you need the right to control the agent. desktop_notifications = false and tray_icon = false in starling.toml turn them off.\n\n" +
			"The packages start it when you log in. Where the desktop starts no such programs (Sway and other small compositors), add \"starling session\" to its configuration. It asks the compositor (Wayland's ext-idle-notify-v1, GNOME), the X server, or KDE's screen saver.\n\n" +
			"With --print, show what each of these reports now, and whether notifications can be shown, and exit.",
		Args: cobra.NoArgs,

		Annotations: map[string]string{ownData: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch runtime.GOOS {
			case "linux":
			case "windows", "darwin":
				return errors.New("no helper is needed on this system: it reports input to the agent itself")
			default:
				return errors.New("the helper is not supported on this system; set the hours of computing (start_hour, end_hour) instead")
			}
			if look {
				return o.printSession(cmd)
			}
			return o.runSession(cmd)
		},
	}
	cmd.Flags().BoolVar(&look, "print", false, "show what is known of this session, and exit")
	return cmd
}

// runSession reports until the session ends.
func (o *options) runSession(cmd *cobra.Command) error {
	giveWay()
	say := func(format string, args ...any) {
		fmt.Fprintln(cmd.OutOrStdout(), printable(fmt.Sprintf(format, args...)))
	}
	leave, err := enterSession()
	if err != nil {
		return err
	}
	if leave == nil {
		say("A helper is already running in this session.")
		return nil
	}
	defer leave()
	seat := desktop.New()
	h := session.Helper{Seat: seat, Returned: seat.Returned, Locked: desktop.Locked, Session: desktop.ID(), Dial: o.dialAgents, Say: say}
	a := seenAgent{o}
	n := notify.Notifier{Ask: a.problems, Show: desktop.Notify, File: notifiedFile()}
	go n.Run(cmd.Context())
	go a.showIcon(cmd.Context())
	err = h.Run(cmd.Context())
	if errors.Is(err, session.ErrBlind) {
		return fmt.Errorf("%w. You can: use a compositor that offers ext-idle-notify-v1, have it tell logind (swayidle with idlehint 180), or set the hours of computing (start_hour, end_hour)", err)
	}
	return err
}

// printSession prints the readings of all sources in this session.
func (o *options) printSession(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	for _, r := range desktop.New().Readings(time.Now()) {
		text := words.Span(r.Idle) + " without input"
		switch {
		case r.Err != nil:
			text = printable(r.Err.Error())
		case r.Idle == 0:
			text = "works; this command has not waited for input"
		}
		fmt.Fprintf(out, "%-17s %s\n", r.Source, text)
	}
	text := "no"
	if desktop.Locked() {
		text = "yes"
	}
	fmt.Fprintf(out, "%-17s %s\n", "locked", text)
	text = "accepts connections"
	c, err := o.dialAgents(cmd.Context())
	if err != nil {
		text = "not reachable: " + printable(err.Error())
	} else {
		_ = c.Close()
	}
	fmt.Fprintf(out, "%-17s %s\n", "agent", text)
	text = "shown"
	if _, err := (seenAgent{o}).Desktop(cmd.Context()); err != nil {
		text = "not shown, and no icon: " + printable(err.Error())
	} else if err := desktop.Notifies(); err != nil {
		text = "not shown: " + printable(err.Error())
	}
	fmt.Fprintf(out, "%-17s %s\n", "notifications", text)
	return nil
}

// dialAgents connects to the user's own agent or, if that does not run, to the computer's.
func (o *options) dialAgents(ctx context.Context) (net.Conn, error) {
	c, err := session.Dial(ctx, o.data)
	if shared := installer.Packaged.DataDir; err != nil && o.data == usersData() && o.data != shared {
		c, err = session.Dial(ctx, shared)
	}
	return c, err
}

// enterSession makes this process the only helper of its session. leave is nil if there is another.
func enterSession() (leave func(), err error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return func() {}, nil // the agent's limit remains
	}
	display := os.Getenv("WAYLAND_DISPLAY")
	if display == "" {
		display = os.Getenv("DISPLAY")
	}
	lock := flock.New(filepath.Join(dir, "starling-session-"+filepath.Base(display)+".lock"))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("find other helpers of this session: %w", err)
	}
	if !ok {
		return nil, nil
	}
	return func() { _ = lock.Close() }, nil
}
