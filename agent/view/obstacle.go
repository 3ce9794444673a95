package view

import (
	"strings"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/obstacle"
	"github.com/starling-grid/starling/state"
)

// obstacleOf returns an obstacle from the durable record.
func obstacleOf(c state.Cause) obstacle.Obstacle {
	return obstacle.Obstacle{Code: obstacle.Code(c.Code), About: c.About}
}

// moving returns why the last attempt to transfer a file failed, or the zero value if it did not.
// Records of older versions do not have the reason.
func moving(f state.File) obstacle.Obstacle {
	o := obstacleOf(f.Obstacle)
	if o.Is() || f.Error == "" {
		return o
	}
	for _, op := range []string{"download ", "upload "} {
		if strings.HasPrefix(f.Error, op+f.Name) {
			return obstacle.Obstacle{Code: obstacle.TransferFails}
		}
	}
	return o
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
			return decide.Transfer{File: file.Name, Next: file.NextTry, Obstacle: o}
		}
	}
	return decide.Transfer{}
}

// problem returns why a file is not where it should be, in one sentence. It returns "" if the file
// is there, or before the first attempt.
func problem(f state.File) string {
	if o := moving(f); o.Is() {
		return o.Cause()
	}
	return f.Error
}
