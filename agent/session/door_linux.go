package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/time/rate"

	"github.com/starling-grid/starling/internal/peercred"
)

// The limits of the door: on connections of one user, on reports of one connection, and on the time
// that a new connection may be silent.
const (
	connectionsPerSecond = 5
	connectionsAtOnce    = 64
	maxConnections       = 4 * maxHelpers // of all users, those that are being refused included
	reportsPerSecond     = 1
	reportsAtOnce        = 10
	greeting             = 5 * time.Second
)

// Serve creates the door of the agent of a data directory, and collects reports in r in the
// background until ctx ends. If open is set, all users may connect, otherwise only the agent's own.
// Serve replaces a socket that an earlier agent left behind, so the caller must be the only agent
// of the directory.
func Serve(ctx context.Context, dataDir string, open bool, r *Roster, log *slog.Logger) error {
	path := filepath.Join(dataDir, SocketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("presence socket: %w", err)
	}
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return fmt.Errorf("presence socket: %w", err)
	}
	mode := os.FileMode(0o600)
	if open {
		mode = 0o666 // the door judges by the user at the other end
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("presence socket: %w", errors.Join(err, l.Close()))
	}
	context.AfterFunc(ctx, func() { _ = l.Close() })
	go accept(ctx, l, &door{r, person, caller, log})
	return nil
}

// accept lets helpers in until ctx ends. Connections above a limit are closed at once, and no other
// connection waits for that: the socket has one queue for all users.
func accept(ctx context.Context, l net.Listener, d *door) {
	var limits limits
	places := make(chan struct{}, maxConnections)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			d.log.Warn("cannot accept the helper of a desktop session", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute): // there are too many open files, or the like
			}
			continue
		}
		uid, ok := d.caller(c)
		if !ok || !limits.of(uid).Allow() {
			_ = c.Close()
			continue
		}
		select {
		case places <- struct{}{}:
			go func() {
				defer func() { <-places }()
				d.attend(ctx, c, uid)
			}()
		default:
			_ = c.Close()
		}
	}
}

// limits has the limits on connections by user.
type limits map[int]*rate.Limiter

// maxUsers is the maximum number of users whose connections are remembered.
const maxUsers = 1024

func (l *limits) of(uid int) *rate.Limiter {
	if *l == nil || len(*l) >= maxUsers {
		*l = make(limits)
	}
	if (*l)[uid] == nil {
		(*l)[uid] = rate.NewLimiter(connectionsPerSecond, connectionsAtOnce)
	}
	return (*l)[uid]
}

// A door takes reports.
type door struct {
	roster *Roster
	person func(uid int, session string) (Person, error)
	caller func(net.Conn) (uid int, ok bool) // at the other end
	log    *slog.Logger
}

func caller(c net.Conn) (uid int, ok bool) {
	p, ok := peercred.Of(c)
	return p.UID, ok
}

// attend takes the reports of a helper until it ends, is silent for long, or is refused.
func (d *door) attend(ctx context.Context, c net.Conn, uid int) {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	id, err := d.roster.join(uid)
	if err == nil {
		defer d.roster.leave(id)
		err = d.listen(c, uid, id)
	}
	if err != nil {
		d.log.Debug("helper of a desktop session refused", "uid", uid, "err", err)
		d.reply(c, answer{err.Error()})
		drain(c)
	}
}

// drain waits a moment for the helper to leave: to end a connection with reports that were not read
// would take the answer back.
func drain(c net.Conn) {
	if u, ok := c.(*net.UnixConn); ok {
		_ = u.CloseWrite()
	}
	var buf [1]byte
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	for range reportsAtOnce {
		if _, err := c.Read(buf[:]); err != nil {
			return
		}
	}
}

func (d *door) listen(c net.Conn, uid, id int) error {
	limit := rate.NewLimiter(reportsPerSecond, reportsAtOnce)
	var who Person
	buf := make([]byte, maxReport+1)
	for first := true; ; first = false {
		patience := lifetime
		if first {
			patience = greeting
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		n, err := c.Read(buf)
		if err != nil {
			return nil // it has ended, or is forgotten
		}
		report, err := parse(buf[:n])
		if err != nil {
			return err
		}
		if !limit.Allow() {
			return errors.New("the helper reports too often")
		}
		if first {
			if who, err = d.person(uid, report.Session); err != nil {
				return err
			}
		}
		d.roster.note(id, who, report, time.Now())
		if first {
			d.reply(c, answer{})
			d.log.Debug("helper of a desktop session connected", "uid", uid, "source", report.Source)
		}
	}
}

// reply does not wait for a helper that does not read.
func (d *door) reply(c net.Conn, a answer) {
	b, err := json.Marshal(a)
	if err == nil {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write(b)
	}
}
