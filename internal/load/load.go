// Package load plays the computers of volunteers to a project, to find out how much
// its server bears: each has an identity, asks for work by BOINC's protocol, and
// reports it with its next request. They compute nothing.
//
// A Host decides what a computer says; Run carries it over HTTP and counts. The
// package knows of a server only what any client may, so that it measures any server
// that speaks the protocol. Addresses other than this computer's own are refused,
// unless the caller says that the project is the operator's.
package load

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// Config says what is played.
type Config struct {
	URL  string // the project's master URL
	Key  protocol.Authenticator
	Mine bool // the project may be on another computer

	Hosts       int // all of one account
	Connections int // requests at a time
	Jobs        int // that a host wants in a request
	Mix         []Share
	Memory      []float64 // bytes of memory that hosts have; none: as usual for their kind
	Seed        uint64    // of the hosts' identities

	Duration time.Duration // of the measurement at most
	Requests int64         // of the measurement at most; 0 no bound
	Tasks    int64         // dispatched in it at most, or a few more; 0 no bound
	Timeout  time.Duration // of one request

	KeepAlive   bool // a connection serves many requests
	Upload      bool // output files are sent before their tasks are reported
	UploadBytes int64
	HonorDelay  bool // hosts wait as long as the project tells them to

	PIDs []int // processes on this computer whose processor time is counted, with their children
}

// Bounds of what a Config may say.
const (
	maxHosts       = 1_000_000
	maxConnections = 10_000
	maxJobs        = 1_000
	maxDuration    = 24 * time.Hour
	maxUpload      = 100 << 20
)

// Check returns all that is wrong with the values.
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

// fleet makes the hosts.
func (c *Config) fleet() []*Host {
	hosts := make([]*Host, c.Hosts)
	for i, kind := range deal(c.Mix, c.Hosts) {
		hosts[i] = newHost(c, kind, i)
	}
	return hosts
}

// Key reads an account's key as it is given on a command line: @FILE stands for what a
// file holds.
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
