package life

import (
	"cmp"
	"time"

	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

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
	l.TellUpload(f)
}

// TellUpload reports the end of an output's upload to the application that requested it, if that
// still runs.
func (l *Life) TellUpload(f state.File) {
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
