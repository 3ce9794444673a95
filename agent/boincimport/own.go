package boincimport

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/agent/appinfo"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// convert describes a project in the agent's terms. If its tasks are computed by the volunteer's
// own programs, these are described by app_info.xml. BOINC's client also uses that file, and not
// its own records.
func (m *importer) convert(p protocol.ClientProject) (Taken, error) {
	folder := filepath.Join(m.from, "projects", protocol.EscapeURL(p.MasterURL))
	platform, _ := hostinfo.Platform()
	info, wrong := m.own(folder, protocol.EscapeURL(p.MasterURL), platform)
	switch {
	case info == nil && wrong != nil:
		return Taken{}, fmt.Errorf("%s: no program can be used of those that you computed with: %w\nYou can: correct the file, or leave the project with BOINC by naming the others with --only", p.MasterURL, wrong)
	case info == nil && p.Anonymous:
		return Taken{}, fmt.Errorf("%s: BOINC computed with your own programs, and their description is gone: %s\nYou can: put it back, or leave the project with BOINC by naming the others with --only", p.MasterURL, filepath.Join(folder, protocol.AppInfoFile))
	case info == nil:
		return convert(p, m.client.Tasks, m.now)
	}
	if wrong != nil {
		for line := range strings.SplitSeq(wrong.Error(), "\n") {
			m.note("%s", line)
		}
	}
	p.Apps, p.AppVersions = info.Apps, info.Versions
	t, err := convert(p, m.client.Tasks, m.now)
	t.Project.Anonymous = true
	own := make(map[string]bool)
	for _, f := range info.Files {
		own[f.Name] = true
	}
	var files []state.File
	for _, f := range t.Files {
		if !own[f.Name] {
			files = append(files, f)
		}
	}
	for _, f := range info.Files {
		files = append(files, state.File{Project: p.MasterURL, FileInfo: f, Own: true, Local: state.FilePresent})
	}
	t.Files = files
	return t, err
}

// own reads app_info.xml in a project's folder. It returns nil if it does not exist.
func (m *importer) own(folder, name, platform string) (*appinfo.Info, error) {
	d, err := m.door.Into("projects/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return appinfo.ReadIn(d.Root(), folder, platform)
}
