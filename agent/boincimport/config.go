package boincimport

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol"
)

const (
	configFile    = "cc_config.xml"
	appConfigFile = "app_config.xml"
)

// readConfig reads the client's configuration. If it is missing or has errors, the import
// continues.
func (m *importer) readConfig() {
	src, err := m.read(configFile, maxNotes)
	if err == nil {
		m.config, err = boincconfig.Parse(src)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.config = boincconfig.Config{}
		m.note("%s was not imported: %v", configFile, err)
	}
	m.toolProxy()
}

// toolProxy lets the proxy that was set in BOINC Manager replace the one that the file names, as in
// BOINC's client.
//
// Source: BOINC client/cs_proxy.cpp, select_proxy_info.
func (m *importer) toolProxy() {
	proxy, except, err := boincconfig.ParseProxy([]byte("<proxy_info>" + m.client.ProxyInfo + "</proxy_info>"))
	if err == nil && proxy != "" {
		m.config.Changes = append(m.config.Changes, boincconfig.Change{
			Element: "proxy_info", Apply: func(o *settings.Settings) { o.Proxy, o.NoProxy = proxy, except },
		})
	}
}

// settings imports the client's configuration into starling.toml, unless that file exists, since it
// then belongs to the volunteer.
func (m *importer) settings() error {
	wanted := settings.Default()
	for _, c := range m.config.Changes {
		with := wanted
		with.LogFlags = maps.Clone(wanted.LogFlags)
		c.Apply(&with)
		if err := with.Check(); err != nil {
			m.note("%s was not imported: %s", c.Element, oneLine(err))
			continue
		}
		wanted = with
	}
	m.unused(configFile, m.config.Unused)

	text := wanted.TOML(settings.Default())
	if text == "" {
		return nil
	}
	err := settings.WriteNew(m.to, "Imported from BOINC's client. What is not set here has its default.", wanted)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	own, _ := settings.Load(m.to) // the agent reports the file's faults
	if text = wanted.TOML(settings.Default(), own); text != "" {
		m.note("%s already exists and was not changed. BOINC's client had other settings:\n\n%s\nYou can: set them in %s, single keys above its first section", settings.File, text, filepath.Join(m.to, settings.File))
	}
	return nil
}

// unused notes the options of a file that have no effect here.
func (m *importer) unused(file string, names []string) {
	switch len(names) {
	case 0:
	case 1:
		m.note("%s: %s has no effect here and was not imported", file, names[0])
	default:
		slices.Sort(names)
		m.note("%s: %s have no effect here and were not imported", file, strings.Join(names, ", "))
	}
}

// limits imports the limits of an attached project, from its own files and the client's.
func (m *importer) limits(masterURL string) {
	name := path.Join("projects", protocol.EscapeURL(masterURL), appConfigFile)
	var l boincconfig.Limits
	src, err := m.door.Read(name, maxNotes)
	if err == nil {
		l, err = boincconfig.ParseApps(src)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.note("%s was not imported: %s", name, oneLine(err))
		l = boincconfig.Limits{}
	}
	if i := slices.Index(l.Unused, "plan_class"); i >= 0 {
		m.note("%s: plan_class has no effect here: avg_ncpus and cmdline now apply to all versions of an application", name)
		l.Unused = slices.Delete(l.Unused, i, i+1)
	}
	m.unused(name, l.Unused)
	if x := m.config.ExcludeGPUs[masterURL]; len(x) > 0 {
		if err := settings.ChangeAccount(m.to, masterURL, func(o *settings.Override) { o.ExcludeGPUs = x }); err != nil {
			m.note("%s: exclude_gpu of %s was not imported: %s", configFile, masterURL, oneLine(err))
		}
	}
	if l.MaxConcurrent == 0 && len(l.Apps) == 0 {
		return
	}
	err = settings.ChangeAccount(m.to, masterURL, func(o *settings.Override) {
		o.MaxConcurrent, o.Apps = &l.MaxConcurrent, l.Apps
	})
	if err != nil {
		m.note("%s was not imported: %s", name, oneLine(err))
	}
}

func oneLine(err error) string { return strings.ReplaceAll(sysfault.Plain(err), "\n", "; ") }
