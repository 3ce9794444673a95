package modeltest

import (
	"bytes"
	"errors"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A manner is the behavior of a host: chances for each of its acts.
type manner struct {
	fails   float64 // the application
	wrong   float64 // made-up output
	collude float64 // output on which several hosts agree
	lazy    float64 // reports success without an upload
	deaf    float64 // does not get the reply
	mute    float64 // the request does not arrive
	forgets float64 // loses a result it has
	late    float64 // sits on a result until after its deadline
	quits   float64 // user aborts a result
}

var manners = []manner{
	{},
	{},
	{deaf: 0.05, mute: 0.05},
	{fails: 1},
	{fails: 0.3, quits: 0.1},
	{wrong: 1},
	{collude: 1},
	{collude: 0.3},
	{lazy: 0.3, deaf: 0.1},
	{deaf: 0.5, forgets: 0.1},
	{forgets: 1},
	{late: 0.7},
	{late: 0.3, wrong: 0.2, fails: 0.1},
}

// A host is a client with its state.
type host struct {
	user *user
	name string
	*machine
	size
	m     manner
	own   []*app // applications for which it has programs of its volunteer's own, now and then
	id    int64
	seqno int64
	have  []*task
	old   [][]byte // requests sent before
}

// A task is a result on a host.
type task struct {
	name, wu string
	deadline time.Time
	ready    *protocol.ReportedResult
}

func (w *world) addHost(u *user, m manner) *host {
	i := 0
	if !w.plain {
		i = w.rng.IntN(len(machines))
	}
	h := &host{user: u, m: m, machine: &machines[i], size: w.drawSize(), name: "host" + string(rune('a'+len(w.hosts)%26)) + time.Duration(len(w.hosts)).String()}
	w.hosts = append(w.hosts, h)
	return h
}

// request returns the request that the host sends now.
func (h *host) request(seconds float64) []byte {
	req := protocol.SchedulerRequest{
		Authenticator: h.user.key, HostID: h.id, RPCSeqno: h.seqno, Client: protocol.Version{Major: 7, Minor: 20},
		CPUReqSeconds: seconds, Platform: h.platforms[0], AltPlatforms: h.platforms[1:],
		Host: protocol.HostInfo{
			DomainName: h.name, HostCPID: h.name, OSName: h.os, Vendor: h.vendor, Model: h.model, Features: h.features,
			NCPUs: h.cpus, Fpops: h.fpops, MemBytes: h.memory, DiskFree: h.disk,
		},
	}
	if h.gpus > 0 {
		req.Coprocs = []protocol.Coproc{{Kind: gpuKind, Count: h.gpus, PeakFlops: 1e11, ReqSeconds: seconds, ReqInstances: float64(h.gpus)}}
		if seconds > 0 && h.seqno%3 == 0 { // for GPUs alone
			req.CPUReqSeconds = 0
		}
	}
	if len(h.own) > 0 && h.seqno%40 < 30 {
		h.anonymous(&req)
	}
	for _, t := range h.have {
		if t.ready != nil {
			req.Results = append(req.Results, *t.ready)
		} else {
			req.OtherResults = append(req.OtherResults, protocol.OtherResult{Name: t.name, AppVersion: -1})
		}
	}
	return req.Encode()
}

// rpc is one session of a host with the scheduler.
func (w *world) rpc(h *host, seconds float64) {
	w.steps++
	body := h.request(seconds)
	h.seqno++
	if h.old = append(h.old, body); len(h.old) > 8 {
		h.old = h.old[1:]
	}
	if w.fault(h.m.mute) {
		return
	}
	reply := w.send(body)
	if reply == nil || w.fault(h.m.deaf) {
		return
	}
	h.take(reply)
}

// send hands a request to the scheduler and reads the reply as a client does.
func (w *world) send(body []byte) *protocol.SchedulerReply {
	out, err := w.sched.Handle(w.ctx, body, "192.0.2.1", w.now)
	if err != nil {
		w.failf("scheduler: %v", err)
		return nil
	}
	reply, err := protocol.ParseSchedulerReply(out.Encode())
	if err != nil {
		w.failf("reply: %v", err)
		return nil
	}
	if req, err := protocol.ParseSchedulerRequest(body); err == nil {
		w.checkSent(req, reply)
	}
	return reply
}

func (h *host) take(r *protocol.SchedulerReply) {
	if r.HostID != 0 {
		h.id, h.seqno = r.HostID, 1
	}
	for _, name := range r.ResultAcks {
		h.drop(name)
	}
	for _, name := range append(r.ResultAborts, r.ResultAbortsIfNotStarted...) {
		for _, t := range h.have {
			if t.name == name && t.ready == nil {
				t.ready = &protocol.ReportedResult{Name: name, State: protocol.ClientAborted, ExitStatus: protocol.ExitAbortedByProject}
			}
		}
	}
	for _, x := range r.Results {
		h.drop(x.Name)
		h.have = append(h.have, &task{name: x.Name, wu: x.WorkunitName, deadline: x.ReportDeadline})
	}
}

func (h *host) drop(name string) {
	for i, t := range h.have {
		if t.name == name {
			h.have = append(h.have[:i], h.have[i+1:]...)
			return
		}
	}
}

// compute lets a host get on with one of its results.
func (w *world) compute(h *host) {
	if w.steps++; len(h.have) == 0 {
		return
	}
	t := h.have[w.rng.IntN(len(h.have))]
	if t.ready != nil {
		return
	}
	rep := &protocol.ReportedResult{Name: t.name, State: protocol.ClientUploaded, FinalCPUTime: time.Minute, FinalElapsedTime: time.Minute}
	switch out, m := honest(t.wu), h.m; {
	case w.chance(m.forgets):
		h.drop(t.name)
		return
	case w.now.Before(t.deadline) && w.chance(m.late):
		return
	case w.chance(m.fails):
		rep.State, rep.ExitStatus = protocol.ClientComputeError, 1
	case w.chance(m.quits):
		rep.State, rep.ExitStatus = protocol.ClientAborted, protocol.ExitAbortedByUser
	case w.chance(m.lazy):
	default:
		if w.chance(m.wrong) {
			out = "wrong " + h.name
		} else if w.chance(m.collude) {
			out = "agreed"
		}
		w.upload(t.name, out)
	}
	t.ready = rep
}

func honest(wu string) string { return "right " + wu }

// upload stores an output as the upload handler does: the first stays.
func (w *world) upload(result, out string) {
	name := output(result)
	if _, taken := w.files[name]; taken {
		return
	}
	w.files[name], w.arrived[name] = out, w.now
	w.view(func(tx *store.View) error {
		r, err := tx.ResultByName(result)
		if errors.Is(err, store.ErrNotFound) {
			return nil // purged (the purger finds it)
		}
		w.strays[result] = r.ServerState == store.Over && !givenUp(r)
		return err
	})
}

// givenUp reports whether a result may still be reported although it is over. Files uploaded for it
// stay if it is never reported.
func givenUp(r store.Result) bool {
	return r.Outcome == store.NoReply || r.Outcome == store.ClientDetached
}

// nonsense sends requests that no well-behaved client would send.
func (w *world) nonsense() {
	h := w.hosts[w.rng.IntN(len(w.hosts))]
	body := h.request(1)
	switch w.rng.IntN(6) {
	case 0: // an earlier request
		if len(h.old) > 0 {
			body = h.old[w.rng.IntN(len(h.old))]
		}
	case 1: // cut off
		body = body[:w.rng.IntN(len(body))]
	case 2: // damaged
		body = bytes.Clone(body)
		for range 1 + w.rng.IntN(8) {
			body[w.rng.IntN(len(body))] = byte(w.rng.Uint32())
		}
	case 3: // with an unknown key
		body = bytes.ReplaceAll(body, []byte(h.user.key), []byte("ffffffffffffffffffffffffffffffff"))
	case 4: // from the computer of another user
		o := w.hosts[w.rng.IntN(len(w.hosts))]
		twin := *o
		twin.user = h.user
		body = twin.request(1)
	case 5: // about results of others, and results that do not exist
		o := w.hosts[w.rng.IntN(len(w.hosts))]
		liar := *h
		liar.have = []*task{{ready: &protocol.ReportedResult{Name: "nothing_0", State: protocol.ClientUploaded}}}
		for _, t := range o.have {
			liar.have = append(liar.have, &task{ready: &protocol.ReportedResult{Name: t.name, State: protocol.ClientUploaded}})
		}
		body = liar.request(1)
	}
	w.send(body)
}
