package remote

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
)

// dialTime bounds a connection's beginning.
const dialTime = 15 * time.Second

// Dir returns the folder with this user's identity as a controller, and the agents that it is
// paired with.
func Dir() (string, error) {
	d, err := os.UserConfigDir()
	return filepath.Join(d, "starling", folder), err
}

// Address completes an address that a person wrote: HOST or HOST:PORT.
func Address(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(Port))
}

// NewClient makes a client for the agent at an address that the controller in dir is
// paired with. It does not connect yet.
func NewClient(dir, address string) (*control.Client, error) {
	cert, err := identity(dir)
	if err != nil {
		return nil, err
	}
	known, err := pinsIn(dir).named(address)
	switch {
	case err != nil:
		return nil, err
	case known == "":
		return nil, words.Refuse(words.T("{address} is not paired with this computer; run starling remote pair there to get a code, then here: starling --host {address} --pair CODE", "address", address))
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, fp, err := dial(ctx, cert, address)
		if err == nil && fp != known {
			_ = c.Close()
			return nil, words.Refuse(words.T("{address} presents a different certificate than when it was paired, {certificate}: either its agent was reinstalled, then pair again, or someone is intercepting the connection", "address", address, "certificate", fp))
		}
		return c, err
	}
	return control.NewClientOver(&http.Transport{DialContext: dial, DisableKeepAlives: true}), nil
}

// dial connects and returns the fingerprint of what answered, which the caller must
// judge.
func dial(ctx context.Context, cert tls.Certificate, address string) (net.Conn, string, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // no authority vouches for it: its fingerprint is compared
	}}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, "", words.Explain(err, words.T("cannot reach {address}: {why}; is remote_port set in its starling.toml?", "address", address, "why", sysfault.Text(err)))
	}
	state := c.(*tls.Conn).ConnectionState()
	return c, shown(&state), nil
}

// Pair pairs the agent at an address with the controller in dir, and returns the agent's
// fingerprint.
func Pair(ctx context.Context, dir, address, code string) (string, error) {
	return pairAs(ctx, ownName(), dir, address, code)
}

// pairAs does so under the name that the agent will use for this controller.
func pairAs(ctx context.Context, name, dir, address, code string) (string, error) {
	key, err := parseCode(code)
	if err != nil {
		return "", err
	}
	cert, err := identity(dir)
	if err != nil {
		return "", err
	}
	c, agent, err := dial(ctx, cert, address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	mine := fingerprint(cert.Certificate[0])
	answer, err := ask(ctx, c, pairing{name, proof(key, controller, agent, mine, name)})
	if err == nil && !hmac.Equal(answer.Proof, proof(key, controlled, agent, mine, name)) {
		err = words.Refuse(words.T("the other side does not know the code: someone is intercepting the connection"))
	}
	if err != nil {
		return "", words.Explain(err, words.T("pair with {address}: {why}", "address", address, "why", sysfault.Text(err)))
	}
	return agent, pinsIn(dir).add(control.Paired{Name: address, Fingerprint: agent, Since: time.Now().UTC().Truncate(time.Second)})
}

// ask sends a request to pair over a connection.
func ask(ctx context.Context, c net.Conn, q pairing) (answer pairing, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return answer, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent/v1/pair", bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	req.Header.Set("Accept-Language", string(words.LanguageOf(ctx)))
	over := func(context.Context, string, string) (net.Conn, error) { return c, nil }
	hc := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: over, DisableKeepAlives: true}}
	resp, err := hc.Do(req)
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	limited := json.NewDecoder(io.LimitReader(resp.Body, maxBody))
	if resp.StatusCode == http.StatusOK {
		return answer, limited.Decode(&answer)
	}
	var refusal struct{ Error string }
	if err := limited.Decode(&refusal); err != nil || refusal.Error == "" {
		return answer, words.Refuse(words.T("HTTP {status}: is this a Starling agent?", "status", resp.StatusCode))
	}
	return answer, errors.New(refusal.Error)
}

// ownName returns the name that the agent will use for this computer.
func ownName() string {
	host, _ := os.Hostname()
	name := host
	if u, err := user.Current(); err == nil {
		name = u.Username + "@" + host
	}
	name = name[:min(len(name), maxName-len(dashboardName))]
	if !goodName(name) {
		return "a computer"
	}
	return name
}
