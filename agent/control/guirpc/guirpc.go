// Package guirpc implements BOINC's GUI RPC protocol, so that boinccmd, boinctui, BOINC Manager and
// similar tools can show and control the agent.
//
// It translates: the agent supplies the facts and carries out the requests. Replies have one
// element a line, since the tools read them by the line.
//
// Source of the protocol: BOINC client/gui_rpc_server_ops.cpp and lib/gui_rpc_client_ops.cpp.
package guirpc

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol/bxml"
)

// Bounds on what peers may do.
const (
	maxRequest   = 100000
	maxWait      = time.Hour        // between two requests
	strangerWait = time.Minute      // the same for a peer that has not sent the password
	retryTime    = time.Second      // after an error of the listener, such as too many open files
	readTime     = 30 * time.Second // for one request, once it has started
	replyTime    = 60 * time.Second
	guessDelay   = time.Second // after a wrong password
	endOfText    = 3           // the byte that ends a message
)

// A Server answers GUI RPCs. Its methods may be called concurrently.
type Server struct {
	Agent Agent
	Log   *slog.Logger
	// Password protects most calls. With "" none is needed.
	Password string
	// Allowed reports whether a peer that is not on this computer may connect.
	Allowed func(ip net.IP) bool

	calls map[string]call
	async async
	peers sync.WaitGroup
	loud  rate.Sometimes // limits the messages that strangers cause
}

// Serve answers on l until ctx ends, and then closes it. The caller limits the number of connections.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.calls, s.loud = table(), rate.Sometimes{First: 10, Interval: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			s.peers.Wait()
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			s.Log.Warn("cannot accept a connection of BOINC's tools; trying again", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryTime):
			}
			continue
		}
		local := isLocal(c.RemoteAddr())
		if !local && (s.Allowed == nil || !s.Allowed(addressOf(c.RemoteAddr()))) {
			s.loud.Do(func() { s.Log.Warn("GUI RPC refused: the peer is not in remote_hosts.cfg", "peer", c.RemoteAddr()) })
			_ = c.Close()
			continue
		}
		s.peers.Go(func() {
			p := peer{Server: s, conn: c, local: local, authorized: s.Password == ""}
			p.talk(ctx)
		})
	}
}

func addressOf(a net.Addr) net.IP {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.IP
	}
	return nil
}

func isLocal(a net.Addr) bool {
	_, unix := a.(*net.UnixAddr)
	return unix || addressOf(a).IsLoopback()
}

// A peer is a tool that is connected.
type peer struct {
	*Server
	conn       net.Conn
	local      bool
	nonce      string
	authorized bool
	refused    int          // calls that lacked authorization
	noticed    map[int]bool // numbers of the notices that it was sent
	closing    bool
}

func (p *peer) talk(ctx context.Context) {
	defer p.conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = p.conn.Close() })
	defer stop()
	r := bufio.NewReader(p.conn)
	for !p.closing {
		request, err := p.read(r)
		if err != nil || !framed(request) {
			return
		}
		reply := p.answer(ctx, request)
		_ = p.conn.SetWriteDeadline(time.Now().Add(replyTime))
		if _, err := io.WriteString(p.conn, "<boinc_gui_rpc_reply>\n"+reply+"</boinc_gui_rpc_reply>\n\x03"); err != nil {
			return
		}
	}
}

// framed reports whether a message is a request from its first character on. With anything before
// it, such as the headers of HTTP, it may be a page in the volunteer's browser that sends it.
func framed(message string) bool {
	message = strings.TrimLeft(message, " \t\r\n\x00")
	return message == "" || message[0] == '<'
}

// read reads one request. A peer may be silent for long, but not in the middle of
// one.
func (p *peer) read(r *bufio.Reader) (string, error) {
	patience := maxWait
	if !p.authorized {
		patience = strangerWait
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := r.Peek(1); err != nil {
		return "", err
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(readTime))
	var b strings.Builder
	for {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == endOfText:
			return b.String(), nil
		case b.Len() >= maxRequest:
			return "", errors.New("request too large")
		}
		b.WriteByte(c)
	}
}

// A request is a call with its arguments.
type request struct {
	ctx  context.Context
	name string
	text string // the whole call, from its tag on
	args map[string]string
	srv  *Server
	peer *peer
}

// arg returns an argument, "" if it is not there.
func (r *request) arg(name string) string { return r.args[name] }

// has reports whether an argument is there, if only as an empty element.
func (r *request) has(name string) bool {
	_, ok := r.args[name]
	return ok
}

// block returns what stands between the first <name> and the last </name> of the
// request, and whether there is such an element.
func (r *request) block(name string) (string, bool) {
	_, rest, ok := strings.Cut(r.text, "<"+name+">")
	if !ok {
		return "", false
	}
	i := strings.LastIndex(rest, "</"+name+">")
	if i < 0 {
		return "", false
	}
	return rest[:i], true
}

// answer makes the inside of a reply.
func (p *peer) answer(ctx context.Context, text string) string {
	s := bxml.NewScanner([]byte(text))
	if s.Find("boinc_gui_rpc_request") != nil {
		return errorText("missing request")
	}
	var r *request
	for name := range s.Children() {
		if r != nil {
			continue
		}
		r = &request{ctx: ctx, name: name, args: make(map[string]string), srv: p.Server, peer: p}
		if i := strings.Index(text, "<"+name); i >= 0 {
			r.text = text[i:]
		}
		for arg := range s.Children() {
			if len(r.args) < 100 {
				r.args[arg] = s.Text()
			}
		}
	}
	if r == nil {
		return errorText("missing request")
	}
	p.Log.LogAttrs(ctx, logflag.Detail, "GUI RPC call", slog.String(logflag.Key, logflag.GUIRPC), slog.String("call", flat(r.name)), slog.Any("peer", p.conn.RemoteAddr()))
	switch r.name {
	case "auth1":
		return p.auth1()
	case "auth2":
		return p.auth2(r.arg("nonce_hash"))
	}
	c, ok := p.calls[r.name]
	if p.authorized || ok && c.open && p.local {
		if !ok {
			return errorText("unrecognized op: " + r.name + "/")
		}
		return c.do(r)
	}
	p.refused++
	p.closing = p.refused > 1
	return "<unauthorized/>\n"
}

func (p *peer) auth1() string {
	if p.nonce != "" && !p.authorized {
		p.closing = true
		return "<unauthorized/>\n"
	}
	var b [16]byte
	_, _ = rand.Read(b[:])
	p.nonce = hex.EncodeToString(b[:])
	return "<nonce>" + p.nonce + "</nonce>\n"
}

func (p *peer) auth2(hash string) string {
	want := md5.Sum([]byte(p.nonce + p.Password))
	if p.nonce != "" && subtle.ConstantTimeCompare([]byte(strings.ToLower(hash)), []byte(hex.EncodeToString(want[:]))) == 1 {
		p.authorized, p.nonce = true, ""
		return "<authorized/>\n"
	}
	// One connection, one guess, one second: a million guesses take a week for
	// each connection that may be open at a time.
	time.Sleep(guessDelay)
	p.closing = true
	p.loud.Do(func() { p.Log.Warn("GUI RPC: wrong password; see gui_rpc_auth.cfg", "peer", p.conn.RemoteAddr()) })
	return "<unauthorized/>\n"
}

const success = "<success/>\n"

func errorText(text string) string {
	var w bxml.Writer
	w.Text("error", text)
	return string(w.Bytes())
}

// outcome returns the reply to a call that does something.
func outcome(err error) string {
	switch {
	case err == nil:
		return success
	case errors.Is(err, settings.ErrNotAttached):
		return errorText(noProject)
	case errors.Is(err, settings.ErrAttached):
		return errorText("Already attached to project")
	case errors.Is(err, control.ErrNoTask):
		return errorText("no such result")
	}
	return errorText(sysfault.Plain(err))
}

// noProject is the answer by which tools recognize that a project is not attached.
const noProject = "No such project"

// flat removes characters that a line of a reply must not contain.
func flat(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' {
			return ' '
		}
		return c
	}, text)
}
