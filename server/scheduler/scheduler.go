// Package scheduler answers scheduler RPCs: it identifies the host or creates a record for it,
// processes the host's reports, and gives it results to compute.
//
// All changes of one RPC are made in one transaction, and the reply is sent only after the
// transaction is on disk. So a result that the host may forget is safe here, and a result that it
// has to compute is on record as sent. The transitioner creates results beforehand. This package
// never creates one, and never validates an output.
package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/demand"
	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// Config is the configuration for sending a project's work. The limits have the names of BOINC's
// config.xml. 0 disables a limit.
type Config struct {
	Name        string
	MasterURL   string   // exactly as volunteers attach to it
	DownloadURL string   // of the download tree, with a final slash
	Mirrors     []string // of it, which clients are to try before
	UploadURL   string   // of the upload handler
	EventsURL   string   // where hosts wait for work

	GUIURLs string          // links that clients show: raw content of the element
	Feeds   []protocol.Feed // of the project's news

	ConfirmEmail bool // accounts get work once their address is confirmed

	CodeSignKey string   // text of the public key
	OldKeys     []OldKey // keys that hosts may still have

	Settings
	Affinity affinity.Settings
}

// limitsInProgress reports whether the results in progress on a host have to be counted.
func (c *Config) limitsInProgress(u store.User, h store.Host) bool {
	return c.MaxWusInProgress > 0 || c.MaxWusInProgressGPU > 0 || wishesOf(u, h).MaxTasks > 0
}

// kind returns the kind of coprocessor of a plan class, or "" for the CPUs.
func (c *Config) kind(planClass string) string { return c.PlanClasses[planClass].Kind() }

// An OldKey is a former code signing key with its signature of the present one.
type OldKey struct{ Text, Signature string }

// Delays sent to clients. The values are BOINC's.
const (
	delayBadKey      = time.Hour
	delayUnsupported = 24 * time.Hour
	delayMin         = time.Second
)

// maxRequest bounds a request. A host with thousands of results in progress
// names each of them in every request.
const maxRequest = 8 << 20

// maxStranger is the part of a request that is read before it is known whose it is. All of an
// ordinary request fits.
const maxStranger = 256 << 10

// step is the part of a stranger's request that is read at a time. maxStranger is a multiple of it.
const step = 16 << 10

// Bound limits the part of a request's body that is read.
var Bound = limit.Bound{Stranger: maxStranger, Most: maxRequest, Kept: limit.Shared}

// maxLooks is the maximum number of times that a request is tried when other requests of the same
// host interfere.
const maxLooks = 5

// A Scheduler answers RPCs. It is safe for concurrent use.
type Scheduler struct {
	Store  *store.Store
	Log    *slog.Logger
	Config Config
	// Reported is called after results were reported, since the transitioner then has something to
	// do.
	Reported func()
	// Uploaded reports whether a file of that name has been uploaded. After an error it
	// is asked again at the host's next request.
	Uploaded func(ctx context.Context, name string) (bool, error)
	// Certify makes the proof that a host may upload a file of at most so many bytes.
	Certify func(name string, maxNBytes int64) (certificate string)
	// Bodies limits the memory that requests take. If nil, there is no limit.
	Bodies *limit.Bodies
	// Decided is called with the results that a host is to get, and with the facts behind the
	// decision, unless it is nil. The transaction may still have to be repeated.
	Decided func(match.Case, []match.Assignment)
	// Rand selects the results of trusted hosts that are checked. If nil, a new random source is
	// used.
	Rand *rand.Rand
	// Feeder finds work. It is of this Scheduler alone.
	Feeder feeder.Feeder
	// Idle manages the hosts that wait for work. If nil, hosts cannot wait.
	Idle Idle

	trays      trays
	mu         sync.Mutex
	catalog    *catalog
	speeds     *speeds
	infeasible infeasible
	tally      tally
	calls      demand.Book
	sentLast   atomic.Int64 // time when work was last sent, in Unix nanoseconds (0: never)
}

// Idle manages the hosts that wait for work (waiting.Room).
type Idle interface {
	// Offer returns the invitation for a host that may wait at a URL. The host's request was looked
	// at at the time at.
	Offer(url string, at time.Time) *protocol.WorkEvents
	// Waits reports whether a host waits, or did a moment ago.
	Waits(host int64) bool
	// Lately returns the time when there was last new work, or the zero time if that is unknown.
	Lately() time.Time
}

// ServeHTTP answers an RPC sent by HTTP. The content type is ignored, as clients declare whatever
// they like.
func (s *Scheduler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := r.ContentLength
	if n > maxRequest {
		http.Error(w, fmt.Sprintf("the request has %d bytes; the limit is %d", n, maxRequest), http.StatusRequestEntityTooLarge)
		return
	}
	if n < 0 { // unknown
		n = maxRequest
	}
	from := limit.ClientOf(r)
	ip := ""
	if from.IsValid() {
		ip = from.String()
	}
	var held []func()
	release := func() {
		for _, release := range held {
			release()
		}
		held = nil
	}
	defer func() { release() }()
	hold := func(n int64) (ok bool) {
		release, err := s.Bodies.Hold(r.Context(), from, n)
		if err != nil {
			s.Log.Warn("scheduler request postponed", "ip", from, "bytes", n, "err", err)
			limit.Busy(w, err.Error())
			return false
		}
		held = append(held, release)
		return true
	}
	body := bytes.NewBuffer(make([]byte, 0, min(n, step)+bytes.MinRead))
	in := http.MaxBytesReader(w, r.Body, maxRequest)
	for whole := false; !whole && body.Len() < maxStranger; {
		// The bytes that have arrived count, and not those announced: announcing costs a stranger nothing.
		k, err := body.ReadFrom(io.LimitReader(in, step))
		if err != nil {
			http.Error(w, "can't read the request", http.StatusBadRequest)
			return
		}
		if whole = k < step; k > 0 && !hold(k) {
			return
		}
	}
	if body.Len() == maxStranger { // a large one: whose is it?
		known, err := s.known(r.Context(), body.Bytes())
		if err != nil {
			s.fail(w, err)
			return
		}
		if !known {
			s.write(w, s.stranger(errStranger, 0, ip))
			return
		}
		release() // else one alone could not have more than there is for all
		if !hold(n) {
			return
		}
		if r.ContentLength > int64(body.Len()) {
			body.Grow(int(n) - body.Len() + bytes.MinRead)
		}
		if _, err := body.ReadFrom(in); err != nil {
			http.Error(w, "can't read the request", http.StatusBadRequest)
			return
		}
	}
	reply, err := s.Handle(r.Context(), body.Bytes(), ip, time.Now())
	if err != nil {
		s.fail(w, err)
		return
	}
	s.write(w, reply)
}

func (s *Scheduler) fail(w http.ResponseWriter, err error) {
	if !errors.Is(err, context.Canceled) { // by its client
		s.Log.Error("scheduler request failed", "err", err)
	}
	http.Error(w, "The project cannot answer now", http.StatusServiceUnavailable)
}

func (s *Scheduler) write(w http.ResponseWriter, reply *protocol.SchedulerReply) {
	w.Header().Set("Content-Type", "text/xml")
	_, _ = w.Write(reply.Encode())
}

// known reports whether a request that starts with head contains the key of an account. Clients
// send the key first.
func (s *Scheduler) known(ctx context.Context, head []byte) (bool, error) {
	scan := bxml.NewScanner(head)
	if scan.Find("authenticator") != nil {
		return false, nil
	}
	key, _, _ := strings.Cut(scan.Line(254), "'")
	err := s.Store.View(ctx, func(tx *store.View) error {
		_, err := byKey(tx, protocol.Authenticator(key))
		return err
	})
	if errors.Is(err, errStranger) {
		return false, nil
	}
	return err == nil, err
}

// stranger answers a request without an account's key.
func (s *Scheduler) stranger(err error, host int64, ip string) *protocol.SchedulerReply {
	s.tally.add(s.Log, time.Now(), true, 0, 0, 0)
	s.Log.Info("scheduler request refused", "err", err, "hostid", host, "ip", ip)
	reply := s.baseReply()
	reply.RequestDelay = delayBadKey
	reply.message(protocol.PriorityNotice,
		`_("Invalid or missing account key.  To fix, remove and add this project.")`)
	return reply.SchedulerReply
}

// Handle answers the request in body, which was sent from the address ip at now. An error means
// that the project cannot answer at all and nothing was changed.
func (s *Scheduler) Handle(ctx context.Context, body []byte, ip string, now time.Time) (*protocol.SchedulerReply, error) {
	req, err := protocol.ParseSchedulerRequest(body)
	if err != nil {
		reply := s.baseReply()
		reply.DontUseDCF = false
		reply.message(protocol.PriorityLow, fmt.Sprintf("Error in request message: %v", err))
		return reply.SchedulerReply, nil
	}
	q := request{req: req, now: now, ip: ip}
	q.memory, q.disk = match.Usable(req)
	reply, err := s.answer(ctx, q)
	if errors.Is(err, errStranger) {
		return s.stranger(err, req.HostID, ip), nil
	}
	if crowd, ok := errors.AsType[*crowdError](err); ok {
		s.Log.Warn("scheduler request refused", "err", err, "ip", ip)
		reply = s.baseReply()
		reply.RequestDelay = crowd.wait
		reply.message(protocol.PriorityNotice, crowd.Error())
		return reply.SchedulerReply, nil
	}
	if ban, ok := errors.AsType[*bannedError](err); ok {
		s.tally.add(s.Log, now, true, 0, 0, 0)
		s.Log.Info("scheduler request refused", "err", err, "userid", ban.user.ID, "ip", ip)
		reply = s.baseReply()
		reply.RequestDelay = delayUnsupported
		reply.Refusals = []protocol.Refusal{{Code: protocol.RefusedExcluded, Detail: ban.Error()}}
		reply.message(protocol.PriorityNotice, ban.Error())
		return reply.SchedulerReply, nil
	}
	if err != nil {
		return nil, err
	}
	if reply.took > 0 && s.Reported != nil {
		s.Reported()
	}
	if len(reply.sent) > 0 {
		s.sentLast.Store(now.UnixNano())
	}
	s.tally.add(s.Log, now, false, len(req.Results), reply.took, len(reply.Results))
	s.Log.Debug("scheduler request", "userid", reply.User.ID, "hostid", reply.host, "reported", len(req.Results),
		"accepted", reply.took, "asked_s", req.CPUReqSeconds, "sent", len(reply.Results))
	return reply.SchedulerReply, nil
}

// answer decides a request and makes the changes. If something changed in between, it starts again.
func (s *Scheduler) answer(ctx context.Context, q request) (*reply, error) {
	apart := false
	for try := 1; ; try++ {
		r := &rpc{s: s, request: q, final: try == maxLooks, apart: apart}
		err := s.prepare(ctx, r)
		switch {
		case err != nil:
		case r.rare():
			r.look.arrivals(ctx, s)
			err = s.Store.Update(ctx, r.within)
		default:
			err = guarded(r, func(r *rpc) error { return s.decided(ctx, r) })
		}
		if err == nil {
			r.offer.end(r.reply.sent, false)
			return r.reply, nil
		}
		again := errors.Is(err, store.ErrLost)
		r.offer.end(nil, again)
		switch {
		case errors.Is(err, errApart):
			apart = true
			try--
		case !again || r.final || errors.Is(err, errCrowded) && !pause(ctx, try):
			return nil, err
		}
	}
}

// decided decides a request that was looked at, and makes the changes.
func (s *Scheduler) decided(ctx context.Context, r *rpc) error {
	if err := r.decide(); err != nil {
		return err
	}
	changes := store.Collect()
	if err := r.save(changes); err != nil {
		return err
	}
	return s.Store.Apply(ctx, changes)
}

// pause waits a moment for other requests to end. It waits longer after each try, and returns false
// if there is no time left.
func pause(ctx context.Context, try int) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Millisecond << try):
		return true
	}
}

// A reply is the answer under construction.
type reply struct {
	*protocol.SchedulerReply
	host int64
	took int // reported results that were accepted
	seen map[string]bool
	sent []int64 // results that are sent for the first time
}

func (r *reply) message(priority, text string) {
	r.Messages = append(r.Messages, protocol.Message{Priority: priority, Text: text})
}

// baseReply returns the common parts of every reply.
func (s *Scheduler) baseReply() *reply {
	return &reply{
		SchedulerReply: &protocol.SchedulerReply{
			SchedulerVersion: protocol.SchedulerVersion,
			DontUseDCF:       true,
			MasterURL:        s.Config.MasterURL,
			ProjectName:      s.Config.Name,
			RequestDelay:     s.Config.requestDelay(),
			NextRPCDelay:     s.Config.NextRPCDelay.Duration(),
			TakesEnergy:      true,
		},
		seen: make(map[string]bool),
	}
}

// requestDelay keeps clients from asking again before they may be given work.
func (c *Config) requestDelay() time.Duration {
	i := c.MinSendworkInterval.Duration()
	if i <= 0 {
		return delayMin
	}
	return max(i+i/100, i+time.Second)
}

// keys decides on the code signing key. The key is sent only to a host that has no key, or whose
// key is replaced with a signed new one: clients complain about a key that they do not need. It
// returns false if the host cannot use our programs.
func (r *rpc) keys() bool {
	ours, theirs := keyText(r.s.Config.CodeSignKey), keyText(r.req.CodeSignKey)
	switch theirs {
	case ours:
		return true
	case "":
		r.reply.CodeSignKey = r.s.Config.CodeSignKey
		return true
	}
	for _, old := range r.s.Config.OldKeys {
		if keyText(old.Text) == theirs {
			r.reply.CodeSignKey, r.reply.CodeSignKeySignature = r.s.Config.CodeSignKey, old.Signature
			return true
		}
	}
	r.deny(protocol.Refusal{Code: protocol.RefusedKey}, protocol.PriorityNotice,
		`_("The project has changed its security key.  Please remove and add this project.")`)
	return false
}

// keyText makes texts of one key equal, whatever white space they hold.
func keyText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
