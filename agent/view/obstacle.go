package view

import (
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// moving returns why the last attempt to transfer a file failed, or the zero value if it did not.
// Records of older versions lack the reason.
func moving(f state.File) reason.Reason {
	if !f.Obstacle.Is() && f.Failures > 0 && f.Local != state.FileFailed {
		return reason.Reason{Code: reason.TransferFails}
	}
	return f.Obstacle.Or(reason.TransferFails)
}

// transfer returns the transfer of the first of a result's files that failed and waits for another
// attempt, or the zero value without one.
func (f *Facts) transfer(r state.Result) decide.Transfer {
	refs := r.FileRefs
	if r.Computing() {
		refs = f.DB.Inputs(r)
	}
	for _, ref := range refs {
		file, _ := f.DB.Files.Get(state.Key(r.Project, ref.FileName))
		if o := moving(file); o.Is() && file.NextTry.After(f.Now) {
			return decide.Transfer{File: file.Name, Next: file.NextTry, Reason: o}
		}
	}
	return decide.Transfer{}
}

// problem returns why a file is not where it should be, in one sentence. It returns "" if the file
// is there, or before the first attempt.
func (f *Facts) problem(file state.File) string {
	if o := moving(file); o.Is() {
		return f.in(o.Text(f.Now))
	}
	return file.Error
}
