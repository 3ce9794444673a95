// Package load simulates the computers of volunteers for a project, to measure its server's
// capacity. Each has an identity, asks for work by BOINC's protocol, and reports it with its next
// request. They do not compute anything.
//
// A Host decides the content of a computer's requests. Run sends them over HTTP and counts. The
// package uses only features that any client may use, so it can measure any server that speaks the
// protocol. Addresses of other computers are refused, unless the caller declares that the project
// belongs to the operator.
package load

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// Config is the configuration of a run.
type Config struct {
	URL  string // the project's master URL
	Key  protocol.Authenticator
	Mine bool // the project belongs to the operator and may be on another computer

	Hosts       int // all of them belong to one account
	Connections int // maximum number of simultaneous requests
	Jobs        int // number of jobs that a host wants with a request
	Mix         []Share
	Memory      []float64 // bytes of memory to choose from, or empty for the usual sizes of each kind
	Seed        uint64    // of the hosts' identities

	Duration time.Duration // maximum duration of the measurement
	Requests int64         // maximum number of requests in the measurement, or 0 for no limit
	Tasks    int64         // number of tasks dispatched after which the measurement ends, or 0 for no limit
	Timeout  time.Duration // of one request

	KeepAlive   bool // a connection is used for many requests
	Upload      bool // output files are uploaded before their tasks are reported
	UploadBytes int64
	HonorDelay  bool // hosts wait as long as the project requests

	PIDs []int // processes on this computer whose processor time is measured, with their children
}

// Limits of the values in a Config.
const (
	maxHosts       = 1_000_000
	maxConnections = 10_000
	maxJobs        = 1_000
	maxDuration    = 24 * time.Hour
	maxUpload      = 100 << 20
)

// Check returns all errors in the values.
func (c *Config) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	in := func(what string, n, low, high int64) {
		if n < low || n > high {
			bad("%s: %d is out of range, want %d to %d", what, n, low, high)
		}
	}
	if c.Key == "" {
		bad("an account key is missing")
	}
	in("hosts", int64(c.Hosts), 1, maxHosts)
	in("connections", int64(c.Connections), 1, maxConnections)
	in("jobs", int64(c.Jobs), 1, maxJobs)
	in("requests", c.Requests, 0, 1e12)
	in("tasks", c.Tasks, 0, 1e12)
	in("bytes of an upload", c.UploadBytes, 0, maxUpload)
	if len(c.Mix) == 0 {
		bad("no kind of computer is given")
	}
	if c.Duration <= 0 || c.Duration > maxDuration {
		bad("duration: %v is out of range, want up to %v", c.Duration, maxDuration)
	}
	if c.Timeout <= 0 || c.Timeout > time.Hour {
		bad("time-out: %v is out of range, want up to 1h", c.Timeout)
	}
	if err := c.reachable(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// fleet returns the hosts.
func (c *Config) fleet() []*Host {
	hosts := make([]*Host, c.Hosts)
	for i, kind := range deal(c.Mix, c.Hosts) {
		hosts[i] = newHost(c, kind, i)
	}
	return hosts
}

// Key returns an account's key from a command-line argument: either the key itself, or @FILE to
// read it from a file.
func Key(s string) (protocol.Authenticator, error) {
	name, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		return protocol.Authenticator(s), nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	return protocol.Authenticator(strings.TrimSpace(string(b))), nil
}
