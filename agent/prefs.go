package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// readPrefs reads the volunteer's preference file and what tools laid over it,
// each in its own layer. A file that is missing says nothing.
func readPrefs(dataDir, venue string) ([]prefs.Layer, error) {
	var layers []prefs.Layer
	var errs []error
	for _, name := range []string{settings.PrefsFile, settings.PrefsOverrideFile} {
		path := filepath.Join(dataDir, name)
		src, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var l prefs.Layer
		if err == nil {
			l, err = prefs.Parse(path, src, venue)
		}
		errs = append(errs, err)
		layers = append(layers, l)
	}
	return layers, errors.Join(errs...)
}

// mergePrefs makes the preferences those of the projects' web sites, under those
// of the files.
func (a *Agent) mergePrefs() {
	h, _ := a.db.Hosts.Get(state.Self)
	layers := make([]prefs.Layer, 0, 1+len(a.layers))
	if h.Prefs.XML != "" {
		l, _, err := prefs.ParseXML(h.Prefs.Project, h.Prefs.XML, a.venue(), true)
		if err == nil {
			layers = append(layers, l)
		} else {
			a.log.Warn("a project's preferences cannot be read and do not count", "error", err)
		}
	}
	a.prefs = prefs.Merge(append(layers, a.layers...)...)
	if a.xfer != nil {
		a.xfer.Down.Set(a.prefs.MaxBytesSecDown)
		a.xfer.Up.Set(a.prefs.MaxBytesSecUp)
	}
	a.reread()
}

// venue is where this computer stands: the volunteer's word, or else that of the
// project whose preferences hold.
func (a *Agent) venue() string {
	if a.settings.Venue != "" {
		return a.settings.Venue
	}
	h, _ := a.db.Hosts.Get(state.Self)
	if acc := a.accounts[h.Prefs.Project]; acc.Venue != "" {
		return acc.Venue
	}
	if m, _ := a.db.Managers.Get(state.Self); m.Venue != "" {
		return m.Venue
	}
	p, _ := a.db.Projects.Get(h.Prefs.Project)
	return p.Venue
}

// takePrefs takes over preferences that a project or manager sent, unless they are no newer
// than those that are known. It returns whether it did.
func (a *Agent) takePrefs(tx *state.Tx, project, xml string, now time.Time) bool {
	if xml == "" {
		return false
	}
	_, changed, err := prefs.ParseXML(project, xml, "", true)
	h, ok := a.db.Hosts.Get(state.Self)
	m, _ := a.db.Managers.Get(state.Self)
	rules := m.Dynamic && m.URL != "" // then nobody else's count
	if err != nil || !ok || rules && project != m.URL || !rules && !changed.After(h.Prefs.Changed) || changed.After(now.Add(24*time.Hour)) {
		return false
	}
	h.Prefs = state.AccountPrefs{Project: project, Changed: changed, XML: xml}
	a.db.Hosts.Put(tx, state.Self, h)
	return true
}

// transferredMB is what was transferred in the period of the preferences' limit.
func (a *Agent) transferredMB(now time.Time) float64 {
	d := a.prefs.DailyXferPeriodDays
	if d <= 0 {
		return 0
	}
	h, _ := a.db.Hosts.Get(state.Self)
	return state.TrafficSince(h.Traffic, now, int(d)) / 1e6
}
