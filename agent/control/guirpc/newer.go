package guirpc

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol/bxml"
)

// writeNewer reports a newer version of this program, and where to get it.
func writeNewer(w *bxml.Writer, v view.Tools) {
	w.Text("newer_version", v.Newer.Version)
	w.Text("download_url", v.Newer.URL)
}

// projectsFile is a list of public projects in the format of BOINC's client. The agent does not
// fetch it. Put it there if you want tools to offer projects.
const projectsFile = "all_projects_list.xml"

func (r *request) allProjects() string {
	v, err := r.srv.Agent.Tools(r.ctx)
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	b, err := os.ReadFile(filepath.Join(v.DataDir, projectsFile))
	if err != nil {
		return "" // as BOINC's client answers without one
	}
	return strings.TrimSpace(string(b)) + "\n"
}
