package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// ErrNotRunning means that no agent answers in the data directory.
var ErrNotRunning = words.Refuse(words.T("no agent is running"))

// ErrUnresponsive means that an agent is running, but did not answer.
var ErrUnresponsive = words.Refuse(words.T("an agent is running but does not respond"))

// ErrEnded means that the agent ended, or was ended, before its answer was complete.
var ErrEnded = words.Refuse(words.T("the agent ended before it had answered; see its log"))

// ErrVersion means that the agent is of a version that does not have the request, or answers it
// differently.
var ErrVersion = words.Refuse(words.T("the running agent is of another version, which cannot do this: restart it if Starling was upgraded, else upgrade the older of the two"))

// ErrForbidden means that there is an agent, or may be one, that this user may not control.
var ErrForbidden = errors.New("permission denied")

// Forbidden returns ErrForbidden with the reason.
func Forbidden(why words.Text) error {
	return words.Explain(ErrForbidden, words.T("permission denied: {why}", "why", why))
}

// Unresponsive returns ErrUnresponsive for the agent of a data directory.
func Unresponsive(dataDir string) error {
	return words.Explain(ErrUnresponsive, words.T("an agent is running but does not respond in {dir}; see its log", "dir", dataDir))
}

// otherVersion returns ErrVersion with a detail.
func otherVersion(detail string) error {
	return words.Explain(ErrVersion, words.And(sysfault.Text(ErrVersion), words.Plain(detail)))
}

// A Client talks to the agent of a data directory. Its methods may be called concurrently. Each
// returns ErrNotRunning without an agent, and ErrForbidden if this user may not control it.
type Client struct{ http *http.Client }

// NewClient makes a client. It does not connect yet.
func NewClient(dataDir string) *Client {
	connect := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := dialStarted(ctx, dataDir)
		if errors.Is(err, fs.ErrPermission) {
			return nil, Forbidden(words.T("{dir} belongs to another user; {remedy}", "dir", dataDir, "remedy", admission(dataDir)))
		} else if errors.Is(err, ErrForbidden) || errors.Is(err, ErrUnresponsive) {
			return nil, err
		} else if err != nil {
			return nil, words.Explain(ErrNotRunning, words.T("no agent is running in {dir}", "dir", dataDir))
		}
		return c, nil
	}
	return NewClientOver(&http.Transport{DialContext: connect, DisableKeepAlives: true})
}

// startPatience is the time to wait for an agent that has its state, but no socket yet.
const startPatience = 15 * time.Second

// dialStarted connects to the agent. It waits for an agent that is just starting.
func dialStarted(ctx context.Context, dataDir string) (net.Conn, error) {
	for end := time.Now().Add(startPatience); ; {
		c, err := dial(ctx, dataDir)
		if err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrForbidden) {
			return c, err
		}
		if !state.Held(filepath.Join(dataDir, "state.db")) {
			return nil, err
		}
		if time.Now().After(end) {
			return nil, Unresponsive(dataDir)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// NewClientOver makes a client whose requests are carried by t to one agent, wherever
// it is.
func NewClientOver(t http.RoundTripper) *Client {
	return &Client{&http.Client{Timeout: 30 * time.Second, Transport: t}}
}

// Reach returns nil when an agent answers that this user may use.
func (c *Client) Reach(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "", nil, nil)
}

// Status asks for everything there is to see.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c, "status")
}

// Reload makes the agent read its account and preference files again. The error has their faults.
func (c *Client) Reload(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "reload", nil, nil)
}

// Decision asks for the last pass of the policies.
func (c *Client) Decision(ctx context.Context) (decide.Record, error) {
	return get[decide.Record](ctx, c, "decision")
}

// Prefs asks for the computing preferences in force.
func (c *Client) Prefs(ctx context.Context) (prefs.Effective, error) {
	return get[prefs.Effective](ctx, c, "prefs")
}

// SteerProject makes the agent carry out a request for a project.
func (c *Client) SteerProject(ctx context.Context, masterURL string, what ProjectAction) error {
	return c.call(ctx, http.MethodPost, "project", url.Values{"project": {masterURL}, "action": {string(what)}}, nil)
}

// SteerTask makes the agent carry out a request for a task, which is found by its name alone if
// project is "".
func (c *Client) SteerTask(ctx context.Context, project, name string, what TaskAction) error {
	return c.call(ctx, http.MethodPost, "task", url.Values{"project": {project}, "task": {name}, "action": {string(what)}}, nil)
}

// SetMode sets the mode of an activity. With d = 0 it stays until changed.
func (c *Client) SetMode(ctx context.Context, what Activity, kind prefs.ModeKind, d time.Duration) error {
	return c.call(ctx, http.MethodPost, "mode", url.Values{
		"of": {string(what)}, "network": {strconv.FormatBool(what == Network)}, "mode": {modeNames[kind]}, "for": {d.String()},
	}, nil)
}

// Log requests the log since the agent's start, with numbers above after.
func (c *Client) Log(ctx context.Context, after int) (Log, error) {
	return get[Log](ctx, c, "log/"+strconv.Itoa(after))
}

// Attach makes the agent attach to a project.
func (c *Client) Attach(ctx context.Context, masterURL string, key protocol.Authenticator) error {
	return c.call(ctx, http.MethodPost, "attach", url.Values{"project": {masterURL}, "key": {string(key)}}, nil)
}

// Detach makes the agent detach from a project.
func (c *Client) Detach(ctx context.Context, masterURL string) error {
	return c.call(ctx, http.MethodPost, "detach", url.Values{"project": {masterURL}}, nil)
}

// JoinManager makes the agent follow an account manager. The hash is protocol.PasswordHash of the
// password and the login.
func (c *Client) JoinManager(ctx context.Context, managerURL, login, passwdHash string) error {
	return c.call(ctx, http.MethodPost, "manager/join", url.Values{"url": {managerURL}, "login": {login}, "passwd_hash": {passwdHash}}, nil)
}

// SyncManager makes the agent ask its account manager now.
func (c *Client) SyncManager(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "manager/sync", nil, nil)
}

// LeaveManager makes the agent stop using the account manager.
func (c *Client) LeaveManager(ctx context.Context, detach bool) error {
	return c.call(ctx, http.MethodPost, "manager/leave", url.Values{"detach": {strconv.FormatBool(detach)}}, nil)
}

// get asks the agent for a value.
func get[T any](ctx context.Context, c *Client, name string) (v T, err error) {
	err = c.call(ctx, http.MethodGet, name, nil, &v)
	return v, err
}

func (c *Client) call(ctx context.Context, method, name string, q url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://agent/v1/"+name, strings.NewReader(q.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept-Language", string(words.LanguageOf(ctx)))
	resp, err := c.http.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return unanswered(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var refusal struct{ Error string }
		if err := json.NewDecoder(resp.Body).Decode(&refusal); err != nil || refusal.Error == "" {
			return otherVersion(fmt.Sprintf("(HTTP %d)", resp.StatusCode))
		}
		if resp.StatusCode == http.StatusForbidden {
			return Forbidden(words.Plain(refusal.Error))
		}
		return errors.New(refusal.Error)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return unanswered(ctx, err)
	}
	return nil
}

// unanswered returns the error for a request whose answer did not arrive or cannot be read.
func unanswered(ctx context.Context, err error) error {
	_, badText := errors.AsType[*json.SyntaxError](err)
	_, badType := errors.AsType[*json.UnmarshalTypeError](err)
	late, isNet := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return err
	case badText, badType:
		return otherVersion(fmt.Sprintf("(%v)", err))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), sysfault.Lost(err):
		return ErrEnded
	case isNet && late.Timeout():
		return words.Explain(ErrUnresponsive, words.T("an agent is running but does not respond; see its log"))
	}
	return err
}
