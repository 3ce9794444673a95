package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/fault"
	"github.com/starling-grid/starling/server/operate/dev"
	"github.com/starling-grid/starling/server/project"
)

func devCmd() *cobra.Command {
	var d devProject
	var faults string
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Serve a project for tests of clients",
		Long: "Make a project for tests of clients in a temporary folder, and serve it until interrupted. One line of JSON\n" +
			"on standard output says how to use it: the address, an account with a key that is always the same, and a\n" +
			"token for the HTTP API. The application " + dev.App + " copies its input to its output, on all systems that have\n" +
			"/bin/sh. There are always jobs for it.\n\n" +
			"Faults happen to requests by chance: lose-request, 5xx (not handled), lose-reply (handled), and cut (half a\n" +
			"reply). slow delays every request. A request can ask for faults of its own with the header " + fault.Header + ".",
		Example: "  starling-server dev --listen 127.0.0.1:8080\n" +
			"  starling-server dev --fault lose-reply=0.1,5xx=0.05,slow=200ms --seed 7 | head -1 | jq -r .url",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if d.faults, err = fault.Parse(faults); err != nil {
				return err
			}
			log, err := newLog(cmd)
			if err != nil {
				return err
			}
			return d.serve(cmd.Context(), log)
		},
	}
	cmd.Flags().StringVar(&d.listen, "listen", "127.0.0.1:0", "address to listen on; port 0: any")
	cmd.Flags().StringVar(&d.url, "url", "", "the address that clients attach to (default: http:// with that of --listen and /dev/)")
	cmd.Flags().StringVar(&d.dir, "dir", "", "an empty folder for the project, which is kept (default: a temporary one, which is deleted)")
	cmd.Flags().IntVar(&d.jobs, "jobs", 100, "number of results that wait to be sent; 0: only those that you submit")
	cmd.Flags().StringVar(&faults, "fault", "", "faults and their chances, for example lose-reply=0.1,slow=2s,5xx=0.05,cut=0.1")
	cmd.Flags().Uint64Var(&d.seed, "seed", 1, "the same seed brings the same faults for the same requests")
	return cmd
}

// A devProject holds the flags of dev.
type devProject struct {
	listen, url, dir string
	jobs             int
	faults           fault.Faults
	seed             uint64
}

func (d devProject) serve(ctx context.Context, log *slog.Logger) (err error) {
	if d.jobs < 0 || d.jobs > maxDevJobs {
		return errors.New("--jobs: want a number from 0 to 10000")
	}
	l, err := listenAt(ctx, cmp.Or(d.listen, "127.0.0.1:0"), "--listen")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // Serve closes it, if it is called
	if d.dir == "" {
		temp, err := os.MkdirTemp("", "starling-dev")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(temp) }()
		d.dir = filepath.Join(temp, "project")
	}
	if d.dir, err = filepath.Abs(d.dir); err != nil {
		return err
	}
	made, p, err := dev.Make(ctx, d.dir, cmp.Or(d.url, "http://"+l.Addr().String()+"/dev/"), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := made.Supply(ctx, p, d.jobs); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	supplied := make(chan error, 1)
	go func() {
		defer cancel()
		supplied <- supply(ctx, made, p, d.jobs)
	}()
	s := server.New(p, server.Part{})
	s.Before = func(next http.Handler) http.Handler { return fault.Handler(next, d.faults, d.seed, log) }
	if err := json.NewEncoder(os.Stdout).Encode(made); err != nil { //nolint:gosec // everybody knows that password
		cancel()
		return errors.Join(err, <-supplied)
	}
	err = s.Serve(ctx, l)
	cancel()
	return errors.Join(err, <-supplied)
}

const (
	maxDevJobs = 10_000
	supplying  = time.Second // how often there are new jobs
)

// supply makes new jobs for those that were sent, until ctx ends.
func supply(ctx context.Context, made *dev.Project, p *project.Project, jobs int) error {
	tick := time.NewTicker(supplying)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := made.Supply(ctx, p, jobs); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
