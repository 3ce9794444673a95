package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/dashboard"
	"github.com/starling-grid/starling/agent/control/remote"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/atomicfile"
)

func dashboardCmd(o *options) *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Open the dashboard in the browser and print its address",
		Long:  "Print an address of the running agent's dashboard, and open it in the browser if there is one. The address works once, on this computer only and for 10 minutes; the browser then stays logged in. Anyone who may control the agent can use this command.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, err := o.client().Dashboard(cmd.Context())
			if err != nil {
				return o.reached(err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), address)
			if !noBrowser {
				browse(cmd.Context(), address) // where that fails, the address is printed
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address only")
	return cmd
}

// browse opens an address in the browser, through a file that only its owner can read: everybody
// can read a program's arguments.
func browse(ctx context.Context, address string) {
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
	dir, err := os.UserCacheDir()
	if err != nil {
		return
	}
	dir = filepath.Join(dir, "starling")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	file := filepath.Join(dir, "dashboard.html")
	text := `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=` + html.EscapeString(address) + `">`
	if err := atomicfile.Write(file, []byte(text), 0o600); err != nil {
		return
	}
	_ = exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], file)...).Start()
}

// serveDashboard answers browsers on this computer until ctx ends. Without a dashboard
// it returns nil. in are the settings in force.
func serveDashboard(ctx context.Context, dataDir string, a *agent.Agent, port int, in settings.Settings, log *slog.Logger) (control.Dashboard, error) {
	if port == 0 {
		return nil, dashboard.Retract(dataDir)
	}
	l, err := openPort(ctx, "127.0.0.1", port)
	if err != nil {
		err = fmt.Errorf("%w; is another agent running? Choose another port with --dashboard-port or dashboard_port in starling.toml", err)
		return nil, errors.Join(err, dashboard.Retract(dataDir))
	}
	token, err := dashboard.Announce(dataDir, strconv.Itoa(port))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	srv := &dashboard.Server{Agent: a, Log: log, Token: token, Port: strconv.Itoa(port), Computers: remote.NewComputers(dataDir)}
	srv.Confinement = dashboard.Confinement{System: runtime.GOOS, Sandbox: in.Sandbox, Network: in.SandboxNetwork, Outside: in.Virtualization}
	known, err := knownProjects()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	for _, p := range known {
		srv.Known = append(srv.Known, dashboard.Known{Name: p.Name, URL: p.URL, Area: p.Area, About: p.About, First: p.First})
	}
	go func() {
		if err := srv.Serve(ctx, l); err != nil {
			log.Error("the dashboard has stopped; computing continues", "err", err)
		}
	}()
	return srv, nil
}
