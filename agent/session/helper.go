package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/desktop"
	"github.com/starling-grid/starling/internal/backoff"
)

// The times between looks at the session: while people use it, while they are away and nothing
// announces their return, and while it will be announced. The agent forgets a helper after three of the
// last.
const (
	lookInUse = 10 * time.Second
	lookAway  = 15 * time.Second
	lookSure  = 30 * time.Second
)

// Where nothing senses input, a helper waits for the session to be ready, or for its end to be certain. Nothing
// starts another helper before the next login, so a desktop that does not answer has long, for example while
// memory is short.
const (
	untilReady = 3 * time.Minute
	untilEnded = 5 * time.Second
	untilStuck = time.Hour
)

// ErrBlind is the error for a session in which nothing senses input.
var ErrBlind = errors.New("nothing in this session reports input")

// A Seat is the session that a helper reports on.
type Seat interface {
	// Idle returns the time without input.
	Idle(now time.Time) desktop.Reading
}

// A Helper reports the input of a session to the agent.
type Helper struct {
	Seat     Seat
	Returned <-chan struct{} // receives when people return
	Locked   func() bool
	Session  string                                  // logind's name of the session, "" if unknown
	Dial     func(context.Context) (net.Conn, error) // connects to the agent's door
	Say      func(format string, args ...any)        // for people
}

// Dial connects to the door of the agent of a data directory.
func Dial(ctx context.Context, dataDir string) (net.Conn, error) {
	return (&net.Dialer{Timeout: greetingPatience}).DialContext(ctx, "unixpacket", filepath.Join(dataDir, SocketName))
}

const greetingPatience = 5 * time.Second

// A link is the connection to the agent.
type link struct {
	conn     net.Conn   // nil: none
	heard    chan error // receives nil when the agent has accepted the first report, then the reason why the connection ended
	failures int
	next     time.Time // of the next attempt
}

// Run reports until ctx or the session ends. Without an agent it tries again after some time, of two
// minutes at most.
func (h *Helper) Run(ctx context.Context) error {
	l := link{heard: make(chan error, 2)}
	defer l.close()
	patience, seen := untilReady, time.Now()
	for {
		now := time.Now()
		r := h.Seat.Idle(now)
		limit := patience
		if patience == untilEnded && errors.Is(r.Err, context.DeadlineExceeded) {
			limit = untilStuck // the desktop is too busy to answer, which is not its end
		}
		switch {
		case r.Err == nil:
			patience, seen = untilEnded, now
			h.tell(ctx, &l, r, now)
		case now.Sub(seen) < limit:
		case patience == untilReady:
			return fmt.Errorf("%w: %w", ErrBlind, r.Err)
		default:
			h.Say("The desktop session has ended.")
			return nil
		}
		timer := time.NewTimer(l.pause(r, now))
		select {
		case <-ctx.Done():
			return nil
		case <-h.Returned:
		case err := <-l.heard:
			h.follow(&l, err, now)
		case <-timer.C:
		}
		timer.Stop()
	}
}

// tell sends a report. It connects first if necessary.
func (h *Helper) tell(ctx context.Context, l *link, r desktop.Reading, now time.Time) {
	if l.conn == nil && !now.Before(l.next) {
		conn, err := h.Dial(ctx)
		if err != nil {
			l.later(now)
			return
		}
		l.conn = conn
		go hear(conn, l.heard)
	}
	if l.conn == nil {
		return
	}
	b, err := json.Marshal(Report{Version: version, Idle: r.Idle.Seconds(), Locked: h.Locked(), Source: r.Source, Session: h.Session})
	if err == nil {
		_ = l.conn.SetWriteDeadline(now.Add(greetingPatience))
		_, err = l.conn.Write(b)
	}
	if err != nil {
		_ = l.conn.Close() // hear notices this and reports it
	}
}

// follow reacts to the outcome that hear has sent.
func (h *Helper) follow(l *link, err error, now time.Time) {
	if err == nil {
		h.Say("Reporting to the agent.")
		l.failures = 0
		return
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		h.Say("The agent does not accept reports: %v", err)
	}
	l.close()
	l.later(now)
}

// hear reads the agent's answers until the connection ends.
func hear(conn net.Conn, heard chan<- error) {
	buf := make([]byte, maxReport)
	for accepted := false; ; {
		n, err := conn.Read(buf)
		var a answer
		if err == nil {
			err = json.Unmarshal(buf[:n], &a)
		}
		if err == nil && a.Error != "" {
			err = errors.New(a.Error)
		}
		if err != nil {
			_ = conn.Close()
			heard <- err
			return
		}
		if !accepted {
			accepted = true
			heard <- nil
		}
	}
}

// later has the next attempt to connect wait, longer after each failure.
func (l *link) later(now time.Time) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	l.next = now.Add(backoff.Delay(l.failures, 20*time.Second, 2*time.Minute, rng))
	l.failures++
}

func (l *link) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// pause is the time until the next look.
func (l *link) pause(r desktop.Reading, now time.Time) time.Duration {
	switch {
	case r.Err != nil:
		return untilEnded
	case l.conn == nil:
		return max(time.Second, l.next.Sub(now))
	case r.Idle < lookSure:
		return lookInUse
	case r.Pushes:
		return lookSure
	}
	return lookAway
}
