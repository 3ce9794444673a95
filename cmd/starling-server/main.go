// Command starling-server is a volunteer-computing project in one program: it
// sets a project up, takes work, and serves it to BOINC's clients.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/cli"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		u, _ := user.Current() // without it, the text is shorter
		fmt.Fprintln(os.Stderr, "starling-server: "+strings.ReplaceAll(explain(err, u), "\n", "\nstarling-server: "))
		os.Exit(cli.Status(err))
	}
}

// explain describes an error in words to the user that runs the command. A file that this user may
// not use often belongs to the person who typed the command after sudo.
func explain(err error, u *user.User) string {
	text := sysfault.Plain(err)
	e, network := errors.AsType[*net.OpError](err)
	listens := network && e.Op == "listen"
	if errors.Is(err, fs.ErrPermission) && !listens && u != nil && u.Uid != "0" {
		text += "\nYou can: give the user " + u.Username + ", as whom this runs, access to it, or put it where that user has access."
	}
	return text
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "starling-server",
		Short: "Run a volunteer-computing project",
		Long: "Starling's server runs a volunteer-computing project for BOINC's clients and Starling's own.\n\n" +
			"DIR is the project's directory, created by \"starling-server init\".",
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(initCmd(), userCmd(), appCmd(), versionCmd(), workCmd(), batchCmd(), resultCmd(), hostCmd(), fileCmd(), trickleCmd(), serveCmd(), devCmd(), migrateCmd(), backupCmd(), restoreCmd(), moveCmd(), auditCmd(), adminCmd(), tokenCmd(), remoteCmd(), statusCmd(), doctorCmd(), keyCmd(), loadCmd(), docsCmd())
	logFlags(cmd)
	cli.Strict(cmd)
	return cmd
}

// group returns a command that only contains others.
func group(use, short string, sub ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return fmt.Errorf("%s needs a command: see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}}
	cmd.AddCommand(sub...)
	return cmd
}

// withProject opens the project for a command that changes or shows it.
func withProject(cmd *cobra.Command, dir string, fn func(ctx context.Context, p *project.Project) error) (err error) {
	return withOpened(cmd, dir, project.Open, fn)
}

// inProject makes such a command, whose first argument is the project's directory.
func inProject(fn func(ctx context.Context, p *project.Project, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error { return fn(ctx, p, args) })
	}
}

// inUse keeps a project from being moved until done is called. Faults of the folder are left to those who open it.
func inUse(dir string) (done func(), err error) {
	if _, err := os.Stat(filepath.Join(dir, "server.toml")); err != nil {
		return func() {}, nil //nolint:nilerr // not a project's
	}
	release, err := project.Serving(dir)
	switch {
	case errors.Is(err, project.ErrRotating):
		return nil, err
	case err != nil:
		return func() {}, nil //nolint:nilerr // as above
	}
	return func() { _ = release() }, nil
}

// withOpened is withProject with another way to open it.
func withOpened(cmd *cobra.Command, dir string, open func(context.Context, string, *slog.Logger) (*project.Project, error), fn func(ctx context.Context, p *project.Project) error) (err error) {
	log, err := newLog(cmd)
	if err != nil {
		return err
	}
	if changes(cmd) && action(cmd) != "key rotate" { // which keeps all others away
		done, err := inUse(dir)
		if err != nil {
			return err
		}
		defer done()
	}
	p, err := open(cmd.Context(), dir, log)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := p.Close(); err == nil {
			err = cerr
		}
	}()
	if !changes(cmd) {
		return fn(cmd.Context(), p)
	}
	before := ""
	err = p.Store.View(cmd.Context(), func(tx *store.View) error {
		before = detail(cmd, tx)
		return nil
	})
	if err != nil {
		return err
	}
	err = fn(cmd.Context(), p)
	return errors.Join(err, record(cmd, p, before, err))
}
