package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/guirpc"
	"github.com/starling-grid/starling/agent/control/metrics"
	"github.com/starling-grid/starling/agent/control/remote"
	"github.com/starling-grid/starling/agent/doctor"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/poweroff"
	"github.com/starling-grid/starling/agent/session"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/sdnotify"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/state"
)

func runCmd(o *options) *cobra.Command {
	var whenIdle bool
	var asked ports
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the agent in the foreground",
		Long:  "Run the agent in the foreground until it is interrupted. It then stops all tasks, which resume from their last checkpoint at the next start. To have the system run the agent in the background: starling service install",
		Args:  cobra.NoArgs,

		Annotations: map[string]string{ownData: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return installer.Run(cmd.Context(), func(ctx context.Context, record slog.Handler) error {
				for name, port := range map[string]*int{"gui-rpc-port": &asked.guiRPC, "dashboard-port": &asked.dashboard, "remote-port": &asked.remote} {
					if !cmd.Flags().Changed(name) {
						*port = unset
					}
				}
				return runAgent(ctx, o.data, asked, whenIdle, record)
			})
		},
	}
	cmd.Flags().IntVar(&asked.guiRPC, "gui-rpc-port", 0, "port for BOINC's tools, 0 to disable it (default: gui_rpc_port in starling.toml, else 31416)")
	cmd.Flags().IntVar(&asked.dashboard, "dashboard-port", 0, "port for the dashboard, 0 to disable it (default: dashboard_port in starling.toml, else 31418)")
	cmd.Flags().IntVar(&asked.remote, "remote-port", 0, "port for paired computers, 0 to disable it (default: remote_port in starling.toml, else disabled)")
	cmd.Flags().BoolVar(&whenIdle, "exit-when-idle", false, "exit when no project has work and all results are reported")
	return cmd
}

// giveWay makes the agent compute on one processor at a time, unless $GOMAXPROCS is set. The agent
// has little to do, and with more processors each of its wake-ups wakes others of Go's threads.
func giveWay() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// ports are the ports that flags set.
type ports struct{ guiRPC, dashboard, remote int }

// unset is a port that no flag sets: the settings do.
const unset = -1

// choose returns the port to use, and whether a flag set it.
func choose(flag, setting int) (port int, asked bool) {
	if flag == unset {
		return setting, false
	}
	return flag, true
}

// runAgent runs the agent of a data directory until ctx ends. If a port that was requested by a
// flag is not available, that is an error. Unless record is nil, the agent's log is also sent
// there.
func runAgent(ctx context.Context, dataDir string, flags ports, whenIdle bool, record slog.Handler) (err error) {
	giveWay()
	s, _, err := settings.InForce(dataDir, time.Now()) // the agent reports their faults
	if err != nil {
		return err
	}
	log, closeLog, err := openLog(dataDir, s, record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	leave, err := enter(ctx, dataDir, s.AllowMultipleClients, log)
	if err != nil {
		return err
	}
	defer leave()
	helpers := new(session.Roster)
	a, err := agent.New(agent.Config{DataDir: dataDir, Log: log, ExitWhenIdle: whenIdle, Version: version.Version, Sensors: &hostinfo.Presence{Helpers: helpers}, Detect: gpus.Detector{}.Detect, Energy: new(hostinfo.EnergyMeter), Meter: new(gpus.Meter), Watch: true, Confine: true, Modules: true})
	if errors.Is(err, state.ErrInUse) {
		return fault("an agent is already running in {dir}", "dir", dataDir)
	} else if err != nil {
		return err
	}
	log = a.Logger()
	served, stop := context.WithCancel(context.Background()) // people may look until the very end
	defer stop()
	port, asked := choose(flags.remote, s.RemotePort)
	door, err := serveRemote(served, dataDir, a, port, log)
	if err != nil {
		if asked {
			return errors.Join(err, a.Close())
		}
		log.Error("remote control is unavailable; computing continues", "err", err)
	}
	port, asked = choose(flags.dashboard, s.DashboardPort)
	page, err := serveDashboard(served, dataDir, a, port, s, log)
	if err != nil {
		if asked {
			return errors.Join(err, a.Close())
		}
		log.Error("the dashboard is unavailable; computing continues", "err", err)
	}
	port, asked = choose(flags.guiRPC, s.GUIRPCPort)
	own := &doctor.Tools{Port: port}
	if err := control.Serve(served, dataDir, installer.Group(), a, control.Local{
		Remote: door, Dashboard: page, Doctor: func(ctx context.Context) any { return doctor.Examine(ctx, dataDir, a.FindDevices, own) },
	}, log); err != nil {
		return errors.Join(err, a.Close())
	}
	if err := session.Serve(served, dataDir, installer.Group() != "", helpers, log); err != nil {
		log.Error("desktop sessions cannot report input to this agent; computing continues", "err", err)
	}
	err = serveTools(served, dataDir, a, port, log)
	if err != nil {
		if asked {
			return errors.Join(err, a.Close())
		}
		log.Error("BOINC's tools cannot connect to this agent; computing continues", "err", err)
	}
	own.Opened.Store(err == nil)
	if err := serveMetrics(served, a, s.MetricsPort, log); err != nil {
		log.Error("metrics are unavailable; computing continues", "err", err)
	}
	defer sdnotify.Report(ctx, log, func(ctx context.Context) error {
		_, err := a.Status(ctx) // the loop has turned
		return err
	})()
	ctx, release := poweroff.Context(ctx, log)
	defer release()
	return a.Run(ctx)
}

// serveRemote answers paired computers until ctx ends.
func serveRemote(ctx context.Context, dataDir string, a *agent.Agent, port int, log *slog.Logger) (control.Remote, error) {
	if port == 0 {
		return nil, nil
	}
	srv, err := remote.New(dataDir, port, control.Handler(a), log)
	if err != nil {
		return nil, err
	}
	l, err := openPort(ctx, "", port)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another port with remote_port in starling.toml", err)
	}
	go func() {
		if err := srv.Serve(ctx, l); err != nil {
			log.Error("remote control has stopped; computing continues", "err", err)
		}
	}()
	return srv, nil
}

// serveMetrics answers Prometheus on this computer until ctx ends.
func serveMetrics(ctx context.Context, a *agent.Agent, port int, log *slog.Logger) error {
	if port == 0 {
		return nil
	}
	l, err := openPort(ctx, "127.0.0.1", port)
	if err != nil {
		return fmt.Errorf("%w; choose another port with metrics_port in starling.toml", err)
	}
	go func() {
		if err := metrics.Serve(ctx, l, a, log); err != nil {
			log.Error("metrics have stopped; computing continues", "err", err)
		}
	}()
	return nil
}

// serveTools answers BOINC's tools until ctx ends: from this computer only, unless
// remote_hosts.cfg names others.
func serveTools(ctx context.Context, dataDir string, a *agent.Agent, port int, log *slog.Logger) error {
	if port == 0 {
		return nil
	}
	password, err := settings.Password(dataDir)
	if err != nil {
		return err
	}
	allowed, remote := settings.RemoteHosts(dataDir)
	host := "127.0.0.1"
	if remote {
		host = ""
	}
	l, err := openPort(ctx, host, port)
	if err != nil {
		return fmt.Errorf("%w; is a BOINC client or another agent running? Choose another port with --gui-rpc-port or gui_rpc_port in starling.toml", err)
	}
	srv := &guirpc.Server{Agent: a, Log: log, Password: password, Allowed: allowed}
	go func() {
		if err := srv.Serve(ctx, l); err != nil {
			log.Error("BOINC's tools can no longer connect to this agent; computing continues", "err", err)
		}
	}()
	return nil
}
