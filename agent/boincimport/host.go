package boincimport

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/state"
)

// host imports the identity of this computer, unless the agent has computed before.
func (m *importer) host() error {
	h, _ := m.db.Hosts.Get(state.Self)
	if h.CPID != "" && m.db.Projects.Len() > 0 {
		m.note("the agent keeps its own host identity, because it already has projects")
		return nil
	}
	if h.InstalledAt.IsZero() {
		h.InstalledAt = m.now
	}
	b := m.client
	h.CPID = b.Host.HostCPID
	h.Fpops, h.Iops, h.Measured = b.Host.Fpops, b.Host.Iops, b.Host.Calculated
	if t := b.Times; t.OnFrac > 0 {
		h.Times = state.Times{On: within(t.OnFrac), Active: within(t.ActiveFrac), Connected: 1}
		if t.ConnectedFrac >= 0 {
			h.Times.Connected = within(t.ConnectedFrac)
		}
	}
	modes := map[int]prefs.ModeKind{1: prefs.Always, 3: prefs.Never}
	h.RunMode.Kind, h.NetMode.Kind = modes[b.RunMode], modes[b.NetMode]
	return m.db.Update(func(tx *state.Tx) { m.db.Hosts.Put(tx, state.Self, h) })
}

func within(x float64) float64 { return max(0, min(x, 1)) }

// prefs imports the computing preferences: those from a project's web site, and the changes made on
// this computer.
func (m *importer) prefs() error {
	if b, err := m.read("global_prefs.xml", maxNotes); err == nil {
		if err := m.webPrefs(b); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	const override = "global_prefs_override.xml"
	b, err := m.read(override, maxNotes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(m.to, settings.PrefsOverrideFile)); err == nil {
		m.note("%s was not imported, because %s already exists", override, settings.PrefsOverrideFile)
		return nil
	}
	l, err := prefs.ParseFile(filepath.Join(m.from, override), b, m.client.HostVenue, false)
	if err != nil {
		return err
	}
	return settings.WritePrefsOverride(m.to, l)
}

func (m *importer) webPrefs(b []byte) error {
	s := bxml.NewScanner(b)
	if err := s.Find("global_preferences"); err != nil {
		return fmt.Errorf("global_prefs.xml: %w", err)
	}
	p := state.AccountPrefs{XML: s.Raw()}
	var err error
	if _, p.Changed, err = prefs.ParseXML("global_prefs.xml", p.XML, "", true); err != nil {
		return err
	}
	for s, found := bxml.NewScanner(b), false; !found && s.Find("source_project") == nil; found = true {
		p.Project = s.Text()
	}
	h, _ := m.db.Hosts.Get(state.Self)
	if h.Prefs.XML != "" && !p.Changed.After(h.Prefs.Changed) {
		return nil
	}
	h.Prefs = p
	return m.db.Update(func(tx *state.Tx) { m.db.Hosts.Put(tx, state.Self, h) })
}
