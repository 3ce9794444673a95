package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/backoff"
	"github.com/starling-grid/starling/internal/httpclient"
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

// A server that has answered with a web page for so long does not have the file, if the project's
// scheduler has replied later than a day after the first page. The login page of a network would have
// replaced these replies, too.
const pageGiveUp = 3 * 24 * time.Hour

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
func (fs *Files) StartTransfers(now time.Time, w *core.Waker) {
	h, _ := fs.DB.Hosts.Get(state.Self)
	if fs.Prefs.MayTransfer(fs.Presence.Conditions(now), h.NetMode).Denied() {
		for _, t := range fs.transfers {
			t.cancel()
		}
		return
	}
	perProject, sharing := make(map[string]int), 0
	var look time.Time // when a transfer may turn out to crawl
	for _, t := range fs.transfers {
		perProject[t.file.Project]++
		if at := t.pace(now); look.IsZero() || at.Before(look) {
			look = at
		}
		if !t.crawls {
			sharing++
		}
	}
	for _, wanted := range fs.DB.Wanted() {
		key, f := wanted.Key, wanted.File
		switch {
		case fs.transfers[key] != nil || fs.Ending(f.Project).Leaves():
		case now.Before(f.NextTry):
			w.By(f.NextTry)
		case perProject[f.Project] >= fs.Settings.MaxFileXfersPerProject:
		case sharing >= fs.Settings.MaxFileXfers:
			w.By(look)
		default:
			perProject[f.Project]++
			sharing++
			fs.startTransfer(key, f)
		}
	}
}

func (fs *Files) startTransfer(key string, f state.File) {
	p, ok := fs.DB.Projects.Get(f.Project)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(fs.Ctx)
	t := &transfer{file: f, since: time.Now(), cancel: cancel}
	t.moved.Store(t.since.UnixNano())
	fs.transfers[key] = t
	fs.Log.Info("transfer started", logflag.Key, logflag.FileXfer, "project", f.Project, "file", f.Name, "upload", f.Upload())
	go func() {
		defer cancel()
		err := fs.transfer(ctx, t, p.CodeSignKey)
		fs.Post(Transferred{key, t, err})
	}()
}

// transfer runs outside the loop and touches nothing of the agent's state.
func (fs *Files) transfer(ctx context.Context, t *transfer, codeSignKey string) error {
	f := t.file
	dir, err := fs.OpenProject(f.Project)
	if err != nil {
		return err
	}
	defer dir.Close()
	progress := func(n int64) {
		t.bytes.Add(n)
		t.moved.Store(time.Now().UnixNano())
	}
	if f.Upload() {
		return fs.Xfer.Upload(ctx, filexfer.Upload{
			Dir: dir, Name: f.Name, URLs: f.UploadURLs, Signature: f.XMLSignature,
			MaxNBytes: f.MaxNBytes, MD5: f.MD5, Retry: f.Failures > 0 || f.Send,
		}, progress)
	}
	d := download(dir, f, codeSignKey)
	return fs.Xfer.Download(ctx, d, progress)
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
func (fs *Files) transferred(key string, t *transfer, err error, now time.Time) {
	delete(fs.transfers, key)
	f, ok := fs.DB.Files.Get(key)
	if errors.Is(err, context.Canceled) {
		fs.stale = true // it may be, since the file may not be wanted any more
		return
	}
	if !ok || fs.Ending(f.Project).Due(now) {
		return
	}
	upload := t.file.Upload()
	if f.FirstTry.IsZero() {
		f.FirstTry = now
	}
	log := fs.Log.With("project", f.Project, "file", f.Name)
	log.Debug("transfer ended", logflag.Key, logflag.FileXferDebug, "bytes", t.bytes.Load(), "took", now.Sub(t.since), "failures", f.Failures, "err", err)
	var failure *filexfer.Error
	switch {
	case err == nil:
		f.Retry, f.FirstTry, f.Error, f.Obstacle, f.ErrNum, f.Send = state.Retry{}, time.Time{}, "", reason.Reason{}, 0, false
		if upload {
			f.Done = f.Output && f.MD5 == t.file.MD5 // or it was written again meanwhile
		} else {
			fs.arrived(&f, now)
		}
		fs.stale = fs.stale || !upload && f.Sticky
		log.Info("transfer done", logflag.Key, logflag.FileXfer, "upload", upload, "bytes", t.bytes.Load())
	case errors.As(err, &failure) && !failure.Temporary():
		fs.giveUp(&f, upload, err, failure.Num, now)
		log.Warn("transfer failed permanently", "err", err)
	case !upload && errors.Is(err, httpclient.ErrPage) && fs.pageStays(&f, now):
		fs.giveUp(&f, upload, fmt.Errorf("%w (gave up after 3 days in which the scheduler replied)", err), protocol.ErrNumPermanentHTTP, now)
		log.Warn("transfer failed permanently", "err", err)
	case now.Sub(f.FirstTry) > xferGiveUp:
		fs.giveUp(&f, upload, fmt.Errorf("%w (gave up after 90 days)", err), protocol.ErrNumPermanentHTTP, now)
		log.Warn("transfer failed permanently", "err", err)
	default:
		fs.putOff(&f, err, now)
		log.Warn("transfer failed; trying again", "at", f.NextTry, "err", err)
	}
	fs.Save(func(tx *state.Tx) {
		fs.DB.Files.Put(tx, key, f)
		fs.countTraffic(tx, t, err == nil, now)
	})
	fs.Attempted(f)
}

// pageStays reports whether a web page in place of a file is the project's answer.
func (fs *Files) pageStays(f *state.File, now time.Time) bool {
	p, _ := fs.DB.Projects.Get(f.Project)
	return now.Sub(f.FirstTry) > pageGiveUp && p.Contact.LastRPC.Sub(f.FirstTry) > pageGiveUp/3
}

// putOff schedules another attempt for a failed transfer.
func (fs *Files) putOff(f *state.File, why error, now time.Time) {
	f.NextTry = now.Add(backoff.Delay(f.Failures, xferRetryMin, xferRetryMax, fs.Rand))
	f.Failures++
	f.Error, f.Obstacle = why.Error(), ofTransfer(why, now)
}

// giveUp ends the attempts to transfer a file. A file that is here and that its project wanted
// uploaded stays. If a project orders the same file again, it waits as after a temporary failure.
func (fs *Files) giveUp(f *state.File, upload bool, why error, num int, now time.Time) {
	if fs.putOff(f, why, now); upload && f.Send {
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

// countTraffic adds to the bytes of the day and, for a complete transfer, to the measurements of
// the line.
func (fs *Files) countTraffic(tx *state.Tx, t *transfer, complete bool, now time.Time) {
	bytes, upload := t.bytes.Load(), t.file.Upload()
	h, ok := fs.DB.Hosts.Get(state.Self)
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
	fs.DB.Hosts.Put(tx, state.Self, h)
}
