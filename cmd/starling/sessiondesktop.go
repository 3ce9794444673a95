package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/notify"
	"github.com/starling-grid/starling/agent/control/tray"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/prefs"
)

// A seenAgent is the agent that the helper of a session reports to, as far as the session's user may
// control it. Others get control.ErrForbidden.
type seenAgent struct{ o *options }

// on asks the user's own agent or, if that does not run, the computer's.
func (a seenAgent) on(ask func(*control.Client) error) error {
	err := ask(control.NewClient(a.o.data))
	if shared := installer.Packaged.DataDir; errors.Is(err, control.ErrNotRunning) && a.o.data == usersData() && a.o.data != shared {
		err = ask(control.NewClient(shared))
	}
	return err
}

// Desktop returns what to show.
func (a seenAgent) Desktop(ctx context.Context) (d control.Desktop, err error) {
	err = a.on(func(c *control.Client) (err error) { d, err = c.Desktop(ctx); return err })
	return d, err
}

// SetMode sets the mode of an activity.
func (a seenAgent) SetMode(ctx context.Context, what control.Activity, kind prefs.ModeKind, d time.Duration) error {
	return a.on(func(c *control.Client) error { return c.SetMode(ctx, what, kind, d) })
}

// Dashboard returns an address that opens the dashboard once.
func (a seenAgent) Dashboard(ctx context.Context) (address string, err error) {
	err = a.on(func(c *control.Client) (err error) { address, err = c.Dashboard(ctx); return err })
	return address, err
}

func (a seenAgent) problems(ctx context.Context) ([]control.Problem, error) {
	d, err := a.Desktop(ctx)
	return d.Problems, err
}

// The times until the icon is shown, and between looks at whether the agent wants one.
const (
	iconFirst = 5 * time.Second
	iconEvery = 2 * time.Minute
)

// showIcon shows an icon in the panel while the agent wants one, until ctx ends.
func (a seenAgent) showIcon(ctx context.Context) {
	notify.Poll(ctx, iconFirst, iconEvery, func() bool {
		d, err := a.Desktop(ctx)
		if err == nil && d.TrayIcon {
			_ = tray.Show(ctx, a, browse) // it fails without a session bus
		}
		return err == nil
	})
}

// notifiedFile returns the file with the notifications that this user has seen, or "" without a
// place for it.
//
// Source: XDG Base Directory Specification, $XDG_STATE_HOME.
func notifiedFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "starling", "notified.json")
}
