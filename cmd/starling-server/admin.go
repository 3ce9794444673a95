package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate/console"
	"github.com/starling-grid/starling/server/project"
)

func adminCmd() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "admin DIR",
		Short: "Print a link that opens the operator's pages",
		Long: "Print a link that opens the operator's pages in a browser: how the work flows, lists with filters, and buttons for\n" +
			"what the commands do. It works once, for 5 minutes, and its browser stays signed in for 12 hours. What is done there\n" +
			"is recorded under your name; see audit.\n\n" +
			"The pages are at admin_listen of a running server. From another computer, reach it through SSH:\n" +
			"ssh -L 8081:127.0.0.1:8081 server.",
		Args: cobra.ExactArgs(1),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			at := cmp.Or(listen, p.Config.AdminListen)
			if at == "" {
				return errors.New("the operator's pages have no address: set admin_listen in server.toml, for example to \"127.0.0.1:8081\", and restart serve; or, if serve was started with --admin-listen, add the same flag here")
			}
			host, port, err := net.SplitHostPort(at)
			if err != nil {
				return fmt.Errorf("admin_listen %q: %w", at, err)
			}
			if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
				host = "127.0.0.1"
			}
			fmt.Printf("http://%s/%s\n", net.JoinHostPort(host, port), console.Enter(p, actor(), time.Now()))
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
			if err != nil {
				fmt.Fprintf(os.Stderr, "Nothing answers there yet: start the server with starling-server serve %s, or, if it runs without that address, start it again\n", words.Shell(args[0]))
				return nil
			}
			return c.Close()
		}),
	}
	cmd.Flags().StringVar(&listen, "admin-listen", "", "address of the running server, if it was started with this flag (default: admin_listen in server.toml)")
	return cmd
}
