package operate

import (
	"github.com/starling-grid/starling/server/doctor"
	"github.com/starling-grid/starling/server/project"
)

// Doctor returns what examines the project.
func Doctor(p *project.Project) *doctor.Project {
	return &doctor.Project{Store: p.Store, Download: p.Download, Upload: p.Upload, CodeSign: p.CodeSign()}
}
