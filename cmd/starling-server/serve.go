package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/sdnotify"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate/console"
	"github.com/starling-grid/starling/server/project"
)

func serveCmd() *cobra.Command {
	var listen, adminListen, roles, shard string
	var secure bool
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Run the project until interrupted",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var part server.Part
			var err error
			if part.Roles, err = server.ParseRoles(roles); err != nil {
				return err
			}
			if part.Shard, err = server.ParseShard(shard); err != nil {
				return err
			}
			opened := false
			err = withOpened(cmd, args[0], awaited, func(ctx context.Context, p *project.Project) error {
				opened = true
				flags := func(c *project.Config) error {
					if secure {
						return c.UseTLS()
					}
					return nil
				}
				if err := flags(&p.Config); err != nil {
					return err
				}
				return serve(ctx, p, part, listen, adminListen, flags)
			})
			// Some errors of interrupted connections do not include the signal that is the reason.
			if ctx := cmd.Context(); ctx.Err() != nil && (!opened || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
				return nil // it was stopped while it started
			}
			return err
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on (default: server.toml's, or the port of the project's URL)")
	cmd.Flags().StringVar(&adminListen, "admin-listen", "", "address for metrics, health checks and profiles (default: admin_listen in server.toml)")
	cmd.Flags().BoolVar(&secure, "tls", false, "provide TLS with tls_cert of server.toml, or with a certificate from Let's Encrypt, whose terms you then accept (default: tls in server.toml)")
	cmd.Flags().StringVar(&roles, "roles", "", "what this process does: a list of "+strings.Join(server.Roles, ",")+" (default: all)")
	cmd.Flags().StringVar(&shard, "shard", "", "I/N: process I (from 0) of N that divide the daemons' work by id (default: all of it)")
	return cmd
}

// serve runs the project. flags applies the command line to settings that are read again.
func serve(ctx context.Context, p *project.Project, part server.Part, listen, adminListen string, flags func(*project.Config) error) error {
	at := ""
	if part.Answers() {
		at = cmp.Or(listen, p.Config.ListenAddr())
	}
	l, err := listenAt(ctx, at, "listen in server.toml")
	if err != nil {
		return err
	}
	s := server.New(p, part)
	s.Console = console.New(p).Handler()
	if s.Admin, err = listenAt(ctx, cmp.Or(adminListen, p.Config.AdminListen), "admin_listen in server.toml"); err != nil {
		if l != nil {
			_ = l.Close()
		}
		return err
	}
	if s.Redirect, err = listenAt(ctx, p.Config.RedirectListen, "redirect_listen in server.toml"); err != nil {
		for _, l := range []net.Listener{l, s.Admin} {
			if l != nil {
				_ = l.Close()
			}
		}
		return err
	}
	server.RareGC()
	s.Reload = reloads(ctx, p, flags)
	done := sdnotify.Report(ctx, p.Log, func(ctx context.Context) error { return answers(ctx, l, p.Config.TLS) })
	err = s.Serve(ctx, l)
	done()
	p.Log.Info("stopped")
	return err
}

// answers returns nil if requests to l get an answer, or if l is nil and nothing has to answer. Its
// request is not for anything of the project.
func answers(ctx context.Context, l net.Listener, secure bool) error {
	if l == nil {
		return nil
	}
	plain, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer plain.Close()
	defer context.AfterFunc(ctx, func() { _ = plain.SetDeadline(time.Now()) })()
	c := plain
	if secure {
		c = tls.Client(plain, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // this process itself is at the other end
	}
	_, err = io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") // net/http answers it
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, len("HTTP/1.1")))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && secure { // it does not have a certificate yet, but it answers
		return nil
	}
	return err
}

// reloads returns settings as often as they are to be read again. Those that cannot be
// used are logged.
func reloads(ctx context.Context, p *project.Project, flags func(*project.Config) error) <-chan project.Config {
	hup, out := make(chan os.Signal, 1), make(chan project.Config)
	signal.Notify(hup, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hup)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hup:
			}
			c, err := project.ReadConfig(p.Dir)
			if err == nil {
				err = flags(&c)
			}
			if err != nil {
				p.Log.Error("settings cannot be used; the previous ones stay in effect", "err", err)
				continue
			}
			select {
			case <-ctx.Done():
				return
			case out <- c:
			}
		}
	}()
	return out
}

// Waits for a database or a bucket that does not answer.
const (
	leastWait = time.Second
	mostWait  = 30 * time.Second
)

// awaited opens a project to serve it, once its database and its bucket answer: a service
// may start before them, when the computer does.
func awaited(ctx context.Context, dir string, log *slog.Logger) (*project.Project, error) {
	for wait := leastWait; ; wait = min(2*wait, mostWait) {
		p, err := project.Upgrade(ctx, dir, log)
		if err == nil || !project.Unreachable(err) || ctx.Err() != nil {
			return p, err
		}
		log.Warn("the database or the bucket does not answer", "err", err, "retry_in", wait)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait):
		}
	}
}

// listenAt listens at an address. Its errors name the setting that changes the address. Without an address it returns
// nil.
func listenAt(ctx context.Context, at, setting string) (net.Listener, error) {
	if at == "" {
		return nil, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	switch {
	case sysfault.Taken(err):
		err = fmt.Errorf("%w\nYou can: end that program, unless it serves this project already, or choose another address (%s)", err, setting)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w\nYou can: choose a port from 1024 on (%s), or run the project as the package's service, which may use any", err, setting)
	case err != nil:
		err = fmt.Errorf("%s: %w", setting, err)
	}
	return l, err
}
