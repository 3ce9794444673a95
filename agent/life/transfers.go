package life

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/backoff"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// Waits after a transfer that failed for a passing reason.
//
// Source: BOINC client/pers_file_xfer.h.
const (
	xferRetryMin = 2 * time.Minute
	xferRetryMax = 6 * time.Hour
	xferGiveUp   = 90 * 24 * time.Hour
)

// A transfer is a file on its way.
type transfer struct {
	file   state.File
	since  time.Time
	cancel context.CancelFunc
	bytes  atomic.Int64
	moved  atomic.Int64 // when data last moved: nanoseconds since 1970

	looked time.Time // when its pace was (zero: not yet)
	seen   int64     // bytes then
	crawls bool      // it moved next to nothing before
}

// A transfer that moves fewer bytes a second over so long does not keep the files of
// other projects waiting: their limit is for what shares the line.
const (
	crawlPace = 1 << 10
	paceSpan  = 30 * time.Second
)

// pace sees how fast a transfer was lately, and returns when to look again.
func (t *transfer) pace(now time.Time) time.Time {
	if t.looked.IsZero() {
		t.looked = t.since
	}
	if span := now.Sub(t.looked); span >= paceSpan || span < 0 {
		bytes := t.bytes.Load()
		t.crawls = float64(bytes-t.seen) < crawlPace*span.Seconds()
		t.looked, t.seen = now, bytes
	}
	return t.looked.Add(paceSpan)
}

// StartTransfers starts all transfers that may be started: of files that a result waits for, within
// the limits on simultaneous transfers. While the network must not be used it cancels transfers.
// Downloads resume from there later.
func (l *Life) StartTransfers(now time.Time, w *core.Waker) {
	h, _ := l.DB.Hosts.Get(state.Self)
	if l.Prefs.MayTransfer(l.Presence.Conditions(now), h.NetMode).Denied() {
		for _, t := range l.transfers {
			t.cancel()
		}
		return
	}
	perProject, sharing := make(map[string]int), 0
	var look time.Time // when a transfer may turn out to crawl
	for _, t := range l.transfers {
		perProject[t.file.Project]++
		if at := t.pace(now); look.IsZero() || at.Before(look) {
			look = at
		}
		if !t.crawls {
			sharing++
		}
	}
	for _, wanted := range l.DB.Wanted() {
		key, f := wanted.Key, wanted.File
		switch {
		case l.transfers[key] != nil || l.Ending(f.Project).Leaves():
		case now.Before(f.NextTry):
			w.By(f.NextTry)
		case perProject[f.Project] >= l.Settings.MaxFileXfersPerProject:
		case sharing >= l.Settings.MaxFileXfers:
			w.By(look)
		default:
			perProject[f.Project]++
			sharing++
			l.startTransfer(key, f)
		}
	}
}

func (l *Life) startTransfer(key string, f state.File) {
	p, ok := l.DB.Projects.Get(f.Project)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(l.Ctx)
	t := &transfer{file: f, since: time.Now(), cancel: cancel}
	t.moved.Store(t.since.UnixNano())
	l.transfers[key] = t
	l.Log.Info("transfer started", logflag.Key, logflag.FileXfer, "project", f.Project, "file", f.Name, "upload", f.Upload())
	go func() {
		defer cancel()
		err := l.transfer(ctx, t, p.CodeSignKey)
		l.Post(Transferred{key, t, err})
	}()
}

// transfer runs outside the loop and touches nothing of the agent's state.
func (l *Life) transfer(ctx context.Context, t *transfer, codeSignKey string) error {
	f := t.file
	dir, err := l.OpenProject(f.Project)
	if err != nil {
		return err
	}
	defer dir.Close()
	progress := func(n int64) {
		t.bytes.Add(n)
		t.moved.Store(time.Now().UnixNano())
	}
	if f.Upload() {
		return l.Xfer.Upload(ctx, filexfer.Upload{
			Dir: dir, Name: f.Name, URLs: f.UploadURLs, Signature: f.XMLSignature,
			MaxNBytes: f.MaxNBytes, MD5: f.MD5, Retry: f.Failures > 0 || f.Send,
		}, progress)
	}
	d := download(dir, f, codeSignKey)
	return l.Xfer.Download(ctx, d, progress)
}

func download(dir *os.Root, f state.File, codeSignKey string) filexfer.Download {
	d := filexfer.Download{
		Dir: dir, Name: f.Name, URLs: f.DownloadURLs, NBytes: f.NBytes, MD5: f.MD5,
		Executable: f.Executable, Signed: f.AppFile, Signature: f.Signature, Key: codeSignKey,
	}
	if len(f.GzippedURLs) > 0 {
		d.URLs, d.Gzipped = f.GzippedURLs, true
	}
	return d
}

// transferred makes a transfer's outcome durable.
func (l *Life) transferred(key string, t *transfer, err error, now time.Time) {
	delete(l.transfers, key)
	f, ok := l.DB.Files.Get(key)
	if errors.Is(err, context.Canceled) {
		l.stale = true // it may be, since the file may not be wanted any more
		return
	}
	if !ok || l.Ending(f.Project).Due(now) {
		return
	}
	upload := t.file.Upload()
	if f.FirstTry.IsZero() {
		f.FirstTry = now
	}
	log := l.Log.With("project", f.Project, "file", f.Name)
	log.Debug("transfer ended", logflag.Key, logflag.FileXferDebug, "bytes", t.bytes.Load(), "took", now.Sub(t.since), "failures", f.Failures, "err", err)
	var failure *filexfer.Error
	switch {
	case err == nil:
		f.Retry, f.FirstTry, f.Error, f.Obstacle, f.ErrNum, f.Send = state.Retry{}, time.Time{}, "", reason.Reason{}, 0, false
		if upload {
			f.Done = f.Output && f.MD5 == t.file.MD5 // or it was written again meanwhile
		} else {
			l.arrived(&f, now)
		}
		l.stale = l.stale || !upload && f.Sticky
		log.Info("transfer done", logflag.Key, logflag.FileXfer, "upload", upload, "bytes", t.bytes.Load())
	case errors.As(err, &failure) && !failure.Temporary():
		l.giveUp(&f, upload, err, failure.Num, now)
		log.Warn("transfer failed permanently", "err", err)
	case now.Sub(f.FirstTry) > xferGiveUp:
		l.giveUp(&f, upload, fmt.Errorf("%w (gave up after 90 days)", err), protocol.ErrNumPermanentHTTP, now)
		log.Warn("transfer failed permanently", "err", err)
	default:
		l.putOff(&f, err, now)
		log.Warn("transfer failed; trying again", "at", f.NextTry, "err", err)
	}
	l.Save(func(tx *state.Tx) {
		l.DB.Files.Put(tx, key, f)
		l.countTraffic(tx, t, err == nil, now)
	})
	l.tellUpload(f)
}

// putOff schedules another attempt for a failed transfer.
func (l *Life) putOff(f *state.File, why error, now time.Time) {
	f.NextTry = now.Add(backoff.Delay(f.Failures, xferRetryMin, xferRetryMax, l.Rand))
	f.Failures++
	f.Error, f.Obstacle = why.Error(), ofTransfer(why, now)
}

// giveUp ends the attempts to transfer a file. A file that is here and that its project wanted
// uploaded stays. If a project orders the same file again, it waits as after a temporary failure.
func (l *Life) giveUp(f *state.File, upload bool, why error, num int, now time.Time) {
	if l.putOff(f, why, now); upload && f.Send {
		f.Send, f.FirstTry = false, time.Time{}
		if num == protocol.ErrNumFileMissing {
			f.Local = state.FileAbsent
		}
		return
	}
	f.Local, f.ErrNum = state.FileFailed, num
}

// abandoned is for how long an order whose transfer a person aborted is not followed: it
// is repeated in each reply.
const abandoned = 24 * time.Hour

// Abandon gives up the transfer of a file, which is among those wanted, for a person.
func Abandon(f *state.File, now time.Time) {
	f.NextTry, f.Error, f.Obstacle = now.Add(abandoned), "aborted by user", reason.Reason{Code: reason.Canceled}
	if f.Upload() && f.Send {
		f.Send = false
		return
	}
	f.Local = state.FileFailed
}

// uploadRequested uploads an output of a running application.
func (l *Life) uploadRequested(e executor.UploadRequested) {
	run := l.running[e.Result]
	if run == nil {
		return
	}
	r, _ := l.DB.Results.Get(run.key)
	key := state.Key(r.Project, e.Output.Physical)
	f, ok := l.DB.Files.Get(key)
	if !ok || len(f.UploadURLs) == 0 {
		return
	}
	if !f.Done || f.MD5 != e.Output.MD5 {
		f.NBytes, f.MD5, f.Local, f.Done = e.Output.NBytes, e.Output.MD5, state.FilePresent, false
		f.Retry, f.FirstTry, f.Error, f.Obstacle, f.ErrNum = state.Retry{}, time.Time{}, "", reason.Reason{}, 0
		l.Log.Info("application requested an upload", logflag.Key, logflag.FileXfer, "project", r.Project, "result", r.Name, "file", f.Name)
		l.Save(func(tx *state.Tx) { l.DB.Files.Put(tx, key, f) })
	}
	l.tellUpload(f)
}

// tellUpload reports the end of an output's upload to the application that requested it, if that
// still runs.
func (l *Life) tellUpload(f state.File) {
	status := 0
	switch {
	case !f.Output || !f.Done && f.Local != state.FileFailed:
		return
	case !f.Done:
		status = f.ErrNum
	}
	for task, run := range l.running {
		r, _ := l.DB.Results.Get(run.key)
		if r.Project != f.Project {
			continue
		}
		for _, ref := range r.FileRefs {
			if ref.FileName == f.Name {
				_ = l.Exec.UploadEnded(task, cmp.Or(ref.OpenName, ref.FileName), status) // one that has just ended no longer needs it
			}
		}
	}
}

// countTraffic adds to the bytes of the day and, for a complete transfer, to the measurements of
// the line.
func (l *Life) countTraffic(tx *state.Tx, t *transfer, complete bool, now time.Time) {
	bytes, upload := t.bytes.Load(), t.file.Upload()
	h, ok := l.DB.Hosts.Get(state.Self)
	if !ok || bytes == 0 {
		return
	}
	h.Traffic = state.AddTraffic(h.Traffic, now, float64(bytes), upload)
	switch took := now.Sub(t.since); {
	case !complete:
	case upload:
		h.Up = usage.Moved(h.Up, bytes, took, now)
	default:
		h.Down = usage.Moved(h.Down, bytes, took, now)
	}
	l.DB.Hosts.Put(tx, state.Self, h)
}
