package guirpc_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent/control/guirpc"
)

// A queue is a listener whose connections are pipes, after the errors.
type queue struct {
	errs  []error
	conns chan net.Conn
	done  chan struct{}
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.errs) > 0 {
		err := q.errs[0]
		q.errs = q.errs[1:]
		return nil, err
	}
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error   { close(q.done); return nil }
func (q *queue) Addr() net.Addr { return &net.TCPAddr{} }

func (q *queue) dial() net.Conn {
	here, there := net.Pipe()
	q.conns <- there
	return here
}

// serveQueue serves q in the bubble of a test, and returns its log.
func serveQueue(t *testing.T, q *queue, allowed bool) (log *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log = new(bytes.Buffer)
	s := &guirpc.Server{Agent: agent{}, Log: slog.New(slog.NewTextHandler(log, nil)), Password: "secret", Allowed: func(net.IP) bool { return allowed }}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, q) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return log
}

// Tools can connect again after the agent was short of descriptors.
func TestTooManyOpenFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{conns: make(chan net.Conn), done: make(chan struct{})}
		q.errs = []error{&net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}}
		serveQueue(t, q, true)
		c := q.dial()
		defer c.Close()
		if _, err := io.WriteString(c, "<boinc_gui_rpc_request>\n<auth1/>\n</boinc_gui_rpc_request>\n\x03"); err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(c).ReadString('\x03'); !strings.Contains(got, "<nonce>") {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// A silent peer that has not sent the password does not keep its connection for an hour.
func TestSilentStrangersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{conns: make(chan net.Conn), done: make(chan struct{})}
		serveQueue(t, q, true)
		c := q.dial()
		defer c.Close()
		began := time.Now()
		_, err := c.Read(make([]byte, 1))
		if waited := time.Since(began); err == nil || waited > 2*time.Minute {
			t.Errorf("it is closed after %v, %v", waited, err)
		}
	})
}

// Peers that are refused cannot fill the log.
func TestStrangersCannotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{conns: make(chan net.Conn), done: make(chan struct{})}
		log := serveQueue(t, q, false)
		for range 1000 {
			_ = q.dial().Close()
		}
		synctest.Wait()
		if n := strings.Count(log.String(), "\n"); n < 1 || n > 20 {
			t.Errorf("%d lines for 1000 connections", n)
		}
	})
}
