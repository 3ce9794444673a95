package view

import (
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide/notices"
	"github.com/starling-grid/starling/internal/htmltext"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/state"
)

// shownNotices is the number of notices in a Status, the newest.
const shownNotices = 20

// Notices returns the announcements of a project, or of all projects for "", the newest first.
func (f *Facts) Notices(project string) []control.Notice {
	list := []control.Notice{}
	for _, n := range f.announced(project) {
		v := f.notice(n)
		v.Text = textOf(n)
		list = append(list, v)
	}
	return list
}

// headlines returns the newest notices. The text of news is left out.
func (f *Facts) headlines() (list []control.Notice) {
	all := f.announced("")
	for _, n := range all[:min(len(all), shownNotices)] {
		v := f.notice(n)
		if n.Feed == "" {
			v.Text = textOf(n)
		}
		list = append(list, v)
	}
	return list
}

// announced returns the notices to be shown, the newest first. For people, a project that is being
// detached is still there. An account manager can disable notices.
func (f *Facts) announced(project string) (all []notices.Notice) {
	if m, _ := f.DB.Managers.Get(state.Self); m.NoNotices {
		return nil
	}
	for _, n := range f.DB.Notices.All() {
		if v := notices.Notice(n); (project == "" || n.Project == project) && !v.Old(f.Now) {
			all = append(all, v)
		}
	}
	notices.Sort(all)
	return all
}

func (f *Facts) notice(n notices.Notice) control.Notice {
	p, _ := f.DB.Projects.Get(n.Project)
	v := control.Notice{
		Seqno: n.Seqno, Project: n.Project, ProjectName: p.Name, Kind: control.News,
		Title: n.Title, Link: n.Link, Time: n.Created, Arrived: n.Arrived,
	}
	if n.Feed == "" {
		v.Kind = control.Scheduler
	}
	return v
}

// textOf returns a notice as plain text.
func textOf(n notices.Notice) string {
	if n.Feed == "" {
		return bxml.Printable(n.HTML, notices.MaxHTML)
	}
	return htmltext.Text(n.HTML, notices.MaxHTML)
}
