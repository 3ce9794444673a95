package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/load"
	"github.com/starling-grid/starling/server"
)

func loadCmd() *cobra.Command {
	c := load.Config{}
	var key, mix, memory string
	var asJSON, newConnections bool
	cmd := &cobra.Command{
		Use:   "load URL --key KEY",
		Short: "Simulate many computers and measure how fast a project's server answers",
		Long: "Simulate many computers attached to the project at URL and measure how fast its server answers.\n\n" +
			"Each computer has its own identity, requests work by BOINC's protocol and reports it with its next request,\n" +
			"so any BOINC server can be measured. Nothing is downloaded or computed, and the results are worthless: use a\n" +
			"project made for this, or one whose work you can delete. Without --upload, results whose applications have\n" +
			"output files fail validation. The computers stay in the account of KEY; another run with the same --seed\n" +
			"uses them again.\n\n" +
			"The project's limits apply. To measure the server rather than its limits, set in server.toml:\n" +
			"  min_sendwork_interval = 0\n  daily_result_quota = 0\n  max_hosts_per_user_day = 0\n  max_requests_per_address = 0\n  max_connections_per_address = 0\n\n" +
			"Only addresses of this computer are accepted. For your own project on another computer, pass --my-own-project.\n\n" +
			"It stops when --duration, --requests or --tasks is reached, at most three minutes and four times --timeout later.\n\n" +
			"The exit status is 0 if tasks were dispatched and all of them could be reported, else 1.",
		Example: "  starling-server load http://127.0.0.1:8080/demo/ --key $key --duration 30s\n" +
			"  starling-server load http://127.0.0.1:8080/demo/ --key $key --jobs 10 --hosts 500 --platforms windows=65,linux=25,mac=10 --upload\n" +
			"  starling-server load http://127.0.0.1:8080/demo/ --key $key --pid $(pgrep -d, starling-server) --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.URL, c.KeepAlive = args[0], !newConnections
			if c.Key, err = load.Key(key); err != nil {
				return err
			}
			if c.Mix, err = load.ParseMix(mix); err != nil {
				return fmt.Errorf("--platforms: %w", err)
			}
			if c.Memory, err = load.ParseMemory(memory); err != nil {
				return fmt.Errorf("--memory: %w", err)
			}
			return runLoad(cmd, c, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&key, "key", "", "the account's authenticator; @FILE reads it from a file, so that it does not show in the list of processes")
	f.BoolVar(&c.Mine, "my-own-project", false, "allow an address on another computer; use it only for your own project")
	f.IntVar(&c.Hosts, "hosts", 100, "number of computers, all in one account")
	f.IntVarP(&c.Connections, "connections", "c", 32, "number of simultaneous requests")
	f.IntVar(&c.Jobs, "jobs", 1, "tasks requested each time")
	f.StringVar(&mix, "platforms", "linux", "kinds of computers, with weights if not equal, such as windows=65,linux=25,mac=10; of "+strings.Join(load.KindNames(), ", "))
	f.StringVar(&memory, "memory", "", "gigabytes of memory in the computers, such as 4,8,16 (default: typical of each kind)")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the computers' identities")
	f.DurationVar(&c.Duration, "duration", 30*time.Second, "maximum duration of the measurement")
	f.Int64Var(&c.Requests, "requests", 0, "stop after this many requests (default: no limit)")
	f.Int64Var(&c.Tasks, "tasks", 0, "stop when this many tasks have been dispatched (default: no limit)")
	f.DurationVar(&c.Timeout, "timeout", time.Minute, "time-out of one request")
	f.BoolVar(&newConnections, "no-keep-alive", false, "open a new connection for each request")
	f.BoolVar(&c.Upload, "upload", false, "send output files before their tasks are reported")
	f.Int64Var(&c.UploadBytes, "upload-bytes", 1000, "size of an output file")
	f.BoolVar(&c.HonorDelay, "honor-delay", false, "wait between requests as long as the project asks")
	f.IntSliceVar(&c.PIDs, "pid", nil, "processes on this computer whose CPU time is measured, such as the server; their children are included")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	require(cmd, "key")
	return cmd
}

func runLoad(cmd *cobra.Command, c load.Config, asJSON bool) error {
	server.RareGC() // CPU time that the generator uses is missing for a server on the same computer
	r, err := load.Run(cmd.Context(), c)
	if errors.Is(err, load.ErrForeign) {
		return fmt.Errorf("%w. If the project is yours, pass --my-own-project", err)
	}
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(struct {
			load.Report
			Rate float64 `json:"tasks_per_second"`
		}{r, r.Rate()})
	} else {
		err = r.Write(os.Stdout)
	}
	switch {
	case err != nil:
		return err
	case r.Tasks() == 0:
		return errors.New("no task was dispatched")
	case r.Unreported > 0:
		return fmt.Errorf("tasks that could not be reported: %d", r.Unreported)
	}
	return nil
}
