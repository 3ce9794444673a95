package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent/desktop"
)

// A scripted is a seat whose last input and errors a test sets.
type scripted struct {
	pushes bool

	mu    sync.Mutex
	input time.Time
	err   error
	looks atomic.Int32
}

// set changes the time of the last input, and makes the source fail unless err is nil.
func (s *scripted) set(input time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.input, s.err = input, err
}

// Idle is the time since the last input.
func (s *scripted) Idle(now time.Time) desktop.Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks.Add(1)
	return desktop.Reading{Source: "Wayland", Idle: now.Sub(s.input), Pushes: s.pushes, Err: s.err}
}

// A bench runs a helper that reports to a test's agent.
type bench struct {
	seat     *scripted
	returned chan struct{}
	dials    int
	down     atomic.Bool // the agent
	answer   string      // to each connection
	mu       sync.Mutex  // the test holds it, except while time passes
	conns    []net.Conn
	reports  []Report
	said     []string
}

func (b *bench) helper() *Helper {
	return &Helper{
		Seat: b.seat, Returned: b.returned, Locked: func() bool { return false }, Session: "c2",
		Say: func(format string, args ...any) { b.said = append(b.said, fmt.Sprintf(format, args...)) },
		Dial: func(context.Context) (net.Conn, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.dials++
			if b.down.Load() {
				return nil, errors.New("no agent")
			}
			agent, helper := net.Pipe()
			b.conns = append(b.conns, agent)
			go b.listen(agent)
			return helper, nil
		},
	}
}

func (b *bench) listen(c net.Conn) {
	buf := make([]byte, maxReport)
	for first := true; ; first = false {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		var r Report
		_ = json.Unmarshal(buf[:n], &r)
		b.mu.Lock()
		b.reports = append(b.reports, r)
		b.mu.Unlock()
		if first {
			_, _ = c.Write([]byte(b.answer))
		}
	}
}

// run runs a helper while the test plays, and returns the helper's error.
func run(t *testing.T, b *bench, play func()) (err error) {
	synctest.Test(t, func(t *testing.T) {
		b.seat.set(time.Now(), b.seat.err)
		b.returned = make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.helper().Run(ctx) }()
		b.mu.Lock()
		play()
		b.mu.Unlock()
		synctest.Wait()
		cancel()
		err = <-done
		for _, c := range b.conns {
			_ = c.Close()
		}
	})
	return err
}

// pass has time pass, and everything happen that is due.
func (b *bench) pass(d time.Duration) {
	b.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
	b.mu.Lock()
}

// A helper seldom wakes up while nothing happens, and reports a return at once.
func TestAHelperIsQuiet(t *testing.T) {
	for pushes, most := range map[bool]int{true: 2*60 + 10, false: 4*60 + 10} {
		b := &bench{seat: &scripted{pushes: pushes}, answer: "{}"}
		err := run(t, b, func() {
			b.pass(time.Hour)
			if n := int(b.seat.looks.Load()); n > most {
				t.Errorf("it looked %d times in an hour in which nothing happened, want %d at most", n, most)
			}
			if last := b.reports[len(b.reports)-1]; last.Idle < 3500 || last.Session != "c2" || last.Source != "Wayland" {
				t.Errorf("got %+v", last)
			}
			b.seat.set(time.Now(), nil)
			b.returned <- struct{}{}
			b.pass(0)
			if last := b.reports[len(b.reports)-1]; last.Idle > 1 {
				t.Errorf("a return is not reported: %+v", last)
			}
		})
		if err != nil || b.dials != 1 || strings.Join(b.said, " ") != "Reporting to the agent." {
			t.Errorf("%v, %d connections, %q", err, b.dials, b.said)
		}
	}
}

// The agent forgets no helper that lives.
func TestReportsComeOftenEnough(t *testing.T) {
	if lookSure*3 > lifetime || lookInUse > lookSure || lookAway > lookSure {
		t.Errorf("reports come every %v, and are forgotten after %v", lookSure, lifetime)
	}
}

// A helper finds an agent that is started later, or again.
func TestAHelperConnectsAgain(t *testing.T) {
	b := &bench{seat: &scripted{pushes: true}, answer: "{}"}
	b.down.Store(true)
	err := run(t, b, func() {
		b.pass(time.Hour)
		if b.dials < 25 || b.dials > 75 {
			t.Errorf("%d attempts in an hour without an agent", b.dials)
		}
		b.down.Store(false)
		b.pass(3 * time.Minute)
		if len(b.conns) != 1 {
			t.Fatalf("%d connections", len(b.conns))
		}
		_ = b.conns[0].Close()
		b.pass(time.Minute)
		if len(b.conns) != 2 {
			t.Errorf("%d connections after a restart of the agent", len(b.conns))
		}
	})
	if err != nil || len(b.reports) < 2 {
		t.Errorf("%v, %d reports", err, len(b.reports))
	}
}

// A refused helper prints the reason, and seldom tries again.
func TestARefusedHelper(t *testing.T) {
	b := &bench{seat: &scripted{pushes: true}, answer: `{"error":"4 helpers of user 1000 are connected already"}`}
	err := run(t, b, func() { b.pass(time.Hour) })
	if err != nil || b.dials > 75 || !strings.Contains(b.said[0], "4 helpers of user 1000 are connected already") {
		t.Errorf("%v, %d attempts, %q", err, b.dials, b.said)
	}
}

// A helper ends with its session, or with an error if it cannot see any input.
func TestAHelperEnds(t *testing.T) {
	b := &bench{seat: &scripted{pushes: true}, answer: "{}"}
	err := run(t, b, func() {
		b.pass(time.Minute)
		b.seat.set(time.Now(), errors.New("the compositor has ended"))
		b.returned <- struct{}{}
		b.pass(untilEnded)
	})
	if err != nil || b.said[len(b.said)-1] != "The desktop session has ended." {
		t.Errorf("%v, %q", err, b.said)
	}
	b = &bench{seat: &scripted{err: errors.New("no compositor")}, answer: "{}"}
	if err := run(t, b, func() { b.pass(untilReady) }); !errors.Is(err, ErrBlind) || !strings.Contains(err.Error(), "no compositor") || b.dials != 0 {
		t.Errorf("%v, %d connections", err, b.dials)
	}
}

// A desktop that is too busy to answer has not ended. If it never answers again, it has.
func TestABusyDesktop(t *testing.T) {
	b := &bench{seat: &scripted{pushes: true}, answer: "{}"}
	ended := errors.New("still running")
	err := run(t, b, func() {
		b.pass(time.Minute)
		b.seat.set(time.Now(), context.DeadlineExceeded)
		b.pass(untilStuck / 2)
		before := len(b.reports)
		b.seat.set(time.Now(), nil)
		b.pass(time.Minute)
		if len(b.reports) == before {
			t.Errorf("no report after the desktop was busy; the helper: %v", b.said)
		}
		b.seat.set(time.Now(), context.DeadlineExceeded)
		b.pass(2 * untilStuck)
		if strings.Contains(strings.Join(b.said, " "), "has ended") {
			ended = nil
		}
	})
	if err != nil || ended != nil {
		t.Errorf("at the end: %v, %v", err, ended)
	}
}
