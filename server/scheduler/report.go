package scheduler

import (
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// maxStderr is how much of a result's stderr output is kept, as in BOINC.
const maxStderr = 64 << 10

// takeReports takes in finished results. Each is acknowledged, whatever the
// server makes of it: a client repeats what is not acknowledged in every
// request.
func (r *rpc) takeReports() error {
	for i := range r.req.Results {
		rep := &r.req.Results[i]
		if r.reply.seen["ack "+rep.Name] {
			continue // twice in one request: the first counts
		}
		r.reply.seen["ack "+rep.Name] = true
		r.reply.ResultAcks = append(r.reply.ResultAcks, rep.Name)
		if err := r.take(rep); err != nil {
			return err
		}
	}
	return nil
}

func (r *rpc) take(rep *protocol.ReportedResult) error {
	old, known := r.look.reported[rep.Name]
	if !known {
		return nil
	}
	if !r.mayReport(old) {
		r.s.Log.Info("report ignored", "result", old.Name, "server_state", old.ServerState, "outcome", old.Outcome,
			"hostid", r.host.ID)
		return nil
	}
	x := accept(old, rep)
	x.HostID, x.ReceivedTime = r.host.ID, r.now
	if most := r.now.Sub(old.SentTime).Seconds(); x.ElapsedTime > most {
		x.ElapsedTime = max(0, most)
	}
	r.because("reported by host " + strconv.FormatInt(r.host.ID, 10))
	if err := r.tx.SaveResult(old, x); err != nil {
		return err
	}
	r.reply.took++
	if err := r.reportedBack(x); err != nil {
		return err
	}
	return r.tx.TransitionBy(x.WorkunitID, r.now)
}

// mayReport decides whether a report counts. A result that was given up for
// want of news is taken late; one that is over for other reasons was reported
// before, or is not wanted.
func (r *rpc) mayReport(old store.Result) bool {
	switch {
	case old.UserID != r.user.ID:
		return false
	case old.ServerState == store.InProgress:
		return true
	case old.ServerState == store.Over:
		return old.Outcome == store.NoReply || old.Outcome == store.ClientDetached
	}
	return false
}

// accept returns what a result is after a report. Success is what the client
// says; whether the output files are there is seen by the validator, which
// turns the outcome into a validate error if not.
func accept(old store.Result, rep *protocol.ReportedResult) store.Result {
	x := old
	x.ServerState, x.Outcome = store.Over, store.ClientError
	if rep.Success() {
		x.Outcome, x.ValidateState = store.Success, store.ValidateInit
	} else {
		x.ValidateState = store.Invalid
	}
	if x.FileDeleteState == store.DeleteDone {
		x.FileDeleteState = store.DeleteInit // late: what it uploaded since must go too
	}
	x.ClientState, x.ExitStatus = int64(rep.State), int64(rep.ExitStatus)
	x.CPUTime = max(0, rep.FinalCPUTime.Seconds())
	x.ElapsedTime = max(0, rep.FinalElapsedTime.Seconds(), x.CPUTime)
	x.PeakWorkingSet, x.PeakSwap, x.PeakDisk = float64(rep.PeakWorkingSet), float64(rep.PeakSwap), float64(rep.PeakDisk)
	x.StderrOut = text(rep.StderrOut)
	var files strings.Builder
	for _, f := range rep.Files {
		if f.ErrorMsg != "" {
			x.StderrOut = text(x.StderrOut + "\n" + f.Name + ": " + f.ErrorMsg + "\n")
		}
		files.WriteString(f.XML())
	}
	x.XMLDocOut = text(files.String())
	return x
}

// text makes what a program printed fit for a database: bounded, UTF-8, no
// zero bytes. The end is worth more than the beginning.
func text(s string) string {
	if len(s) > maxStderr {
		s = s[len(s)-maxStderr:]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
}
