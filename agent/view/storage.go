package view

import (
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// storage returns the files that a project stores here.
func (f *Facts) storage(p state.Project) control.Storage {
	s := control.Storage{Limit: int64(f.Accounts[p.MasterURL].MaxStickyGB * prefs.GB)}
	for _, file := range f.DB.Files.Of(p.MasterURL) {
		if !file.Sticky {
			continue
		}
		if file.Local == state.FilePresent {
			s.Files++
			s.Bytes += file.NBytes
		}
		if why := f.problem(file); why != "" {
			s.Problems = append(s.Problems, file.Name+": "+why)
		}
	}
	for _, g := range p.Removed {
		s.Removed = append(s.Removed, control.RemovedFile{Name: g.Name, Bytes: g.NBytes, At: g.At, Code: g.Code, Why: g.Why})
	}
	return s
}
