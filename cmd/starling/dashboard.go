package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control/dashboard"
	"github.com/starling-grid/starling/internal/atomicfile"
)

func dashboardCmd(o *options) *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Open the dashboard in the browser and print its address",
		Long:  "Print the address of the running agent's dashboard, and open it in the browser if there is one. The address works on this computer only. Anyone on this computer who has it can control the agent.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := o.client().Status(cmd.Context()); err != nil {
				return o.reached(err)
			}
			u, err := dashboard.Address(o.data)
			if errors.Is(err, fs.ErrNotExist) {
				return errors.New("the agent has no dashboard: its port is 0 or already in use (see the log); choose another with dashboard_port in starling.toml")
			} else if errors.Is(err, fs.ErrPermission) {
				return fmt.Errorf("%w; only the agent's user and root may read the address; try: sudo starling dashboard --no-browser", err)
			} else if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), u)
			if !noBrowser {
				browse(cmd.Context(), o.data, u.String()) // where that fails, the address is printed
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address only")
	return cmd
}

// browse has the browser open an address, by way of a file that only its owner can
// read: everybody can read a program's arguments.
func browse(ctx context.Context, dataDir, address string) {
	program := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		program = []string{"open"}
	case "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
	}
	file := filepath.Join(dataDir, "dashboard.html")
	text := `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=` + html.EscapeString(address) + `">`
	if err := atomicfile.Write(file, []byte(text), 0o600); err != nil {
		return
	}
	_ = exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], file)...).Start()
}

// serveDashboard answers browsers on this computer until ctx ends.
func serveDashboard(ctx context.Context, dataDir string, a *agent.Agent, port int, log *slog.Logger) error {
	if port == 0 {
		return dashboard.Retract(dataDir)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		err = fmt.Errorf("%w; is another agent running? Choose another port with --dashboard-port or dashboard_port in starling.toml", err)
		return errors.Join(err, dashboard.Retract(dataDir))
	}
	token, err := dashboard.Announce(dataDir, strconv.Itoa(port))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	srv := &dashboard.Server{Agent: a, Log: log, Token: token}
	go func() {
		if err := srv.Serve(ctx, l); err != nil {
			log.Error("the dashboard has stopped; computing continues", "err", err)
		}
	}()
	return nil
}
