// Package session carries reports of input from desktop sessions to the agent. A service cannot see
// a desktop, so a helper in each session reports for it (starling session). The agent's door
// accepts only these reports, from every local user with a session, and answers with one sentence.
//
// A report can only make the computer look used, because the agent counts the shortest time without
// input of all its sources. The package does not sense any input. That is done by agent/desktop.
package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"time"
)

// SocketName is the name of the door's socket in the agent's data directory.
const SocketName = "presence.sock"

// version is the version of the reports.
const version = 1

// maxReport is the maximum size of a report or answer, in bytes. Each is one packet.
const maxReport = 512

// longest is the longest time without input that a report may claim.
const longest = 10 * 365 * 24 * time.Hour

// A Report is one message of a helper.
type Report struct {
	Version int     `json:"v"`
	Idle    float64 `json:"idle"` // seconds without input
	Locked  bool    `json:"locked,omitempty"`
	Source  string  `json:"source"`            // the source of the reading, for people to read
	Session string  `json:"session,omitempty"` // logind's name of the session
}

// An answer is the agent's message after the first report and before it ends the connection.
type answer struct {
	Error string `json:"error,omitempty"`
}

// Patterns with counts take long to compile, so lengths are compared.
var (
	sourceName  = regexp.MustCompile(`^[A-Za-z0-9 ]+$`)
	sessionName = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)
)

// parse reads a report, and refuses everything that this version would not send.
func parse(b []byte) (r Report, err error) {
	if len(b) > maxReport {
		return r, fmt.Errorf("the report is longer than %d bytes", maxReport)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, errors.New("the report is not valid; log out and in again, so that the helper and the agent are of one version")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("the report has something after its end")
	}
	switch {
	case r.Version != version:
		return r, fmt.Errorf("the report has version %d, and this agent reads version %d; log out and in again", r.Version, version)
	case !(r.Idle >= 0) || math.IsInf(r.Idle, 0) || r.Idle > longest.Seconds():
		return r, errors.New("the time without input is not valid")
	case len(r.Source) > 24 || !sourceName.MatchString(r.Source) || len(r.Session) > 32 || !sessionName.MatchString(r.Session):
		return r, errors.New("the name of the source or session is not valid")
	}
	return r, nil
}
