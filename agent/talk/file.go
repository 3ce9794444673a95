package talk

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// A filePart is the role of a file in the reply that describes it.
type filePart struct {
	app    bool // of an app version
	output bool // of a result, and of nothing else
	used   bool // of any of these or of a workunit (otherwise it is an order to fetch, keep or send it)
}

// file handles a file's description. A known name keeps its size and checksum. A failed transfer of
// the file is tried again.
func (r *replier) file(tx *state.Tx, f protocol.FileInfo, part filePart) {
	if err := protocol.ValidFileName(f.Name); err != nil {
		r.say(true, "the project described a file with an invalid name", "err", err)
		return
	}
	key := state.Key(r.project.MasterURL, f.Name)
	rec, known := r.t.DB.Files.Get(key)
	if rec.Own {
		r.say(true, "the project described a file that is yours (app_info.xml); yours stays", "file", f.Name)
		return
	}
	if !known {
		if !part.used && len(f.DownloadURLs)+len(f.GzippedURLs) == 0 {
			r.say(true, "the project asked for a file that is not here", "file", f.Name)
			return
		}
		rec = state.File{Project: r.project.MasterURL, FileInfo: f, AppFile: part.app, Output: part.output}
		if rec.Used = r.now; f.Sticky && f.StickyLifetime > 0 {
			rec.StickyUntil = r.now.Add(f.StickyLifetime)
		}
		r.t.DB.Files.Put(tx, key, rec)
		return
	}
	rec.DownloadURLs, rec.UploadURLs, rec.GzippedURLs = f.DownloadURLs, f.UploadURLs, f.GzippedURLs
	rec.Signature = f.Signature
	if f.XMLSignature != "" { // it is of the size as well
		rec.XMLSignature, rec.MaxNBytes = f.XMLSignature, f.MaxNBytes
	}
	if rec.MaxNBytes == 0 {
		rec.MaxNBytes = f.MaxNBytes
	}
	r.stick(&rec, f)
	if part.app && !rec.AppFile && !rec.Output {
		// It was fetched as data and is to be run now: it must be checked again.
		rec.AppFile, rec.Local = true, state.FileAbsent
	}
	if rec.Local == state.FileFailed {
		r.again(&rec, part)
	}
	if len(f.UploadURLs) > 0 && !part.used {
		r.send(&rec)
	}
	r.t.DB.Files.Put(tx, key, rec)
}

// stick records whether and for how long a file is to be stored. As in BOINC's client, a later
// description may lengthen a lifetime or end it.
//
// Source: BOINC client/client_types.cpp, FILE_INFO::merge_info.
func (r *replier) stick(rec *state.File, f protocol.FileInfo) {
	rec.Sticky, rec.StickyLifetime = f.Sticky, f.StickyLifetime
	if !f.Sticky || f.StickyLifetime <= 0 {
		rec.StickyUntil = time.Time{}
		return
	}
	if until := r.now.Add(f.StickyLifetime); until.After(rec.StickyUntil) {
		rec.StickyUntil = until
	}
}

// again makes a failed file be fetched again: at once if work needs it, and otherwise after a wait,
// since an order is repeated in each reply.
func (r *replier) again(rec *state.File, part filePart) {
	switch {
	case part.used:
		rec.Error, rec.Obstacle, rec.Retry = "", reason.Reason{}, state.Retry{}
	case r.now.Before(rec.NextTry):
		return
	}
	rec.Local, rec.ErrNum = state.FileAbsent, 0
}

// send orders the upload of a file that belongs to no result waiting for it.
func (r *replier) send(rec *state.File) {
	refuse := func(why string) {
		if rec.Error != why { // an order is repeated in each reply
			r.say(true, "refused to upload a file", "file", rec.Name, "why", why)
		}
		rec.Send, rec.Error, rec.Obstacle = false, why, reason.Reason{}
	}
	switch {
	case rec.Output && !rec.Done && rec.Local == state.FilePresent: // it is sent anyway
	case rec.Local != state.FilePresent:
		refuse("the file is not on this computer")
	case rec.MaxNBytes > 0 && rec.NBytes > rec.MaxNBytes:
		refuse(fmt.Sprintf("the file has %s, and the project takes at most %s", words.Bytes(rec.NBytes), words.Bytes(rec.MaxNBytes)))
	case !rec.Send && !r.now.Before(rec.NextTry):
		rec.Send, rec.FirstTry = true, time.Time{}
		r.say(false, "the project wants a file uploaded", "file", rec.Name)
	}
}

// deleteFiles releases files that the project no longer wants stored. They are removed once no task
// needs them.
func (r *replier) deleteFiles(tx *state.Tx) {
	for _, name := range r.reply.DeleteFiles {
		key := state.Key(r.project.MasterURL, name)
		f, ok := r.t.DB.Files.Get(key)
		if !ok || !f.Sticky && !f.Send {
			continue
		}
		f.Sticky, f.StickyLifetime, f.StickyUntil, f.Send = false, 0, time.Time{}, false
		r.t.DB.Files.Put(tx, key, f)
		r.say(false, "the project wants a stored file removed", "file", name)
	}
}
