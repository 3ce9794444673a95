package remote

import (
	"context"
	"crypto/hmac"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/negotiate"
	"github.com/starling-grid/starling/internal/words"
)

// Bounds on what peers may do.
const (
	maxBody    = 1 << 16
	maxName    = 64
	headerTime = 10 * time.Second
	readTime   = 20 * time.Second
	replyTime  = 60 * time.Second
	guessDelay = time.Second // after a wrong code
	folder     = "remote"    // in the data directory
	pairPath   = "POST /v1/pair"
)

var (
	errNoCode    = words.Refuse(words.T("no pairing code is valid there: a code can be used once, within ten minutes and five attempts; run starling remote pair there to get a new one"))
	errWrongCode = words.Refuse(words.T("the pairing code is wrong, or someone is intercepting the connection"))
	errUnpaired  = words.Refuse(words.T("this computer is not, or no longer, paired with that agent; run starling remote pair there to get a code, then here: starling --host HOST --pair CODE"))
)

// A Server answers paired computers. Its methods may be called concurrently.
type Server struct {
	handler http.Handler
	log     *slog.Logger
	port    int
	cert    tls.Certificate
	pins    pins
	pending pending
	now     func() time.Time
}

// New makes a server whose requests from paired computers are answered by handler. Its identity and
// its list of paired computers are in the data directory.
func New(dataDir string, port int, handler http.Handler, log *slog.Logger) (*Server, error) {
	dir := filepath.Join(dataDir, folder)
	cert, err := identity(dir)
	if err != nil {
		return nil, err
	}
	return &Server{handler: handler, log: log, port: port, cert: cert, pins: pinsIn(dir), now: time.Now}, nil
}

// Serve answers on l until ctx ends, and then closes it. The caller limits the number of connections.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc(pairPath, s.pair)
	mux.Handle("/", s.admit(s.handler))
	srv := &http.Server{
		Handler:           http.MaxBytesHandler(negotiate.Language(mux), maxBody),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{s.cert}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13},
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: replyTime, IdleTimeout: readTime, MaxHeaderBytes: 1 << 14,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Invite makes a code with which one computer may pair.
func (s *Server) Invite() (control.Invitation, error) {
	text := newCode()
	code, err := parseCode(text)
	if err != nil {
		return control.Invitation{}, err
	}
	return control.Invitation{
		Code: text, Until: s.pending.set(code, s.now()), Port: s.port,
		Fingerprint: fingerprint(s.cert.Certificate[0]),
	}, nil
}

// Paired lists the computers that may control this agent.
func (s *Server) Paired() ([]control.Paired, error) { return s.pins.all() }

// Revoke forgets a computer, from its next request on.
func (s *Server) Revoke(name string) error {
	err := s.pins.remove(name)
	if err == nil {
		s.log.Info("remote control: revoked", "computer", name)
	}
	return err
}

// admit lets in paired computers.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name, err := s.pins.by(shown(r.TLS)); {
		case err != nil:
			s.log.Error("remote control: cannot read the paired computers, refusing all requests", "err", err)
			control.Refuse(w, r, http.StatusForbidden, words.Refuse(words.T("the agent cannot read its list of paired computers; see its log")))
		case name == "":
			control.Refuse(w, r, http.StatusForbidden, errUnpaired)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// A request to pair, and its answer.
type pairing struct {
	Name  string `json:"name,omitempty"`
	Proof []byte `json:"proof"`
}

func (s *Server) pair(w http.ResponseWriter, r *http.Request) {
	var q pairing
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || !goodName(q.Name) {
		control.Refuse(w, r, http.StatusForbidden, errors.New("invalid pairing request"))
		return
	}
	mine, theirs := fingerprint(s.cert.Certificate[0]), shown(r.TLS)
	code, err := s.pending.check(func(code []byte) bool {
		return hmac.Equal(q.Proof, proof(code, controller, mine, theirs, q.Name))
	}, s.now())
	if err == nil {
		err = s.pins.add(control.Paired{Name: q.Name, Fingerprint: theirs, Since: s.now().UTC().Truncate(time.Second)})
	}
	if err != nil {
		s.log.Warn("remote control: pairing refused", "peer", r.RemoteAddr, "err", err)
		select {
		case <-time.After(guessDelay):
		case <-r.Context().Done():
		}
		control.Refuse(w, r, http.StatusForbidden, err)
		return
	}
	s.log.Info("remote control: paired", "computer", q.Name, "peer", r.RemoteAddr, "fingerprint", theirs)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(pairing{Proof: proof(code, controlled, mine, theirs, q.Name)})
}

// goodName reports whether a computer may call itself so.
func goodName(s string) bool {
	return s != "" && len(s) <= maxName && s == strings.TrimSpace(s) && !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) })
}
