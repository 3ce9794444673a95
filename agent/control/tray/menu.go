package tray

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

// patience is the maximum time for an answer of the agent while a menu opens.
const patience = time.Second

// pause is the length of a pause.
const pause = time.Hour

// maxClicks is the maximum number of clicks that wait for the agent. Later ones are ignored.
const maxClicks = 8

// A menu is shown by the panel. The panel calls its exported methods, concurrently. However often it
// does, the agent is asked one thing at a time.
type menu struct {
	ctx     context.Context //nolint:containedctx // of the icon
	agent   Agent
	browse  func(ctx context.Context, address string)
	changed func(revision uint32)
	hide    func() // the volunteer wants no icon

	clicks    chan func(context.Context) error
	refreshes sync.Mutex  // held during a refresh
	missed    atomic.Bool // a panel did not wait for the end of a refresh

	mu       sync.Mutex
	entries  []entry
	revision uint32
}

// An entry is a line of the menu. Its number is always the same, so that a click on a menu that has
// just changed does nothing else than people read.
type entry struct {
	id    int32
	label string // "": a separator
	do    func(context.Context) error
}

// carryOut carries out clicks until the icon ends.
func (m *menu) carryOut() {
	for {
		select {
		case <-m.ctx.Done():
			return
		case do := <-m.clicks:
			_ = do(m.ctx)
			m.refreshes.Lock()
			if m.refresh() {
				m.announce()
			}
			m.refreshes.Unlock()
		}
	}
}

// opened refreshes the menu when a panel opens it, and reports whether the panel must get it again.
// During another refresh the panel does not wait. It gets a signal if the entries then change.
func (m *menu) opened() bool {
	if !m.refreshes.TryLock() {
		m.missed.Store(true)
		return false
	}
	defer m.refreshes.Unlock()
	m.missed.Store(false)
	changed := m.refresh()
	if changed && m.missed.Load() {
		m.announce()
	}
	return changed
}

// announce has all panels get the menu again.
func (m *menu) announce() {
	m.mu.Lock()
	revision := m.revision
	m.mu.Unlock()
	m.changed(revision)
}

// refresh asks the agent and makes the entries. It reports whether they have changed. The caller holds
// refreshes.
func (m *menu) refresh() bool {
	ctx, cancel := context.WithTimeout(m.ctx, patience)
	defer cancel()
	d, err := m.agent.Desktop(ctx)
	entries := m.made(d, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	same := slices.EqualFunc(entries, m.entries, func(a, b entry) bool { return a.id == b.id && a.label == b.label })
	if m.entries = entries; !same {
		m.revision++
	}
	return !same
}

// made returns the entries for the state of the agent.
func (m *menu) made(d control.Desktop, err error) []entry {
	in := func(t words.Text) string { return t.In(words.LanguageOf(m.ctx)) }
	mode := func(kind prefs.ModeKind, d time.Duration) func(context.Context) error {
		return func(ctx context.Context) error { return m.agent.SetMode(ctx, control.Computing, kind, d) }
	}
	switch {
	case errors.Is(err, control.ErrNotRunning):
		return []entry{{id: stateEntry, label: in(words.T("The agent is not running"))}}
	case errors.Is(err, control.ErrVersion):
		return []entry{{id: stateEntry, label: in(words.T("The agent is of another version: restart the computer"))}}
	case err != nil:
		return []entry{{id: stateEntry, label: in(words.T("The agent does not answer"))}}
	case !d.TrayIcon:
		m.hide()
	}
	state := entry{id: stateEntry, label: in(words.T("No task is running"))}
	switch {
	case d.Compute != "":
		state.label = d.Compute
	case d.Running > 0:
		state.label = in(words.T("Computing {tasks}", "tasks", words.Count(d.Running, "task")))
	}
	all := []entry{state, {id: firstLine}}
	switch d.RunMode {
	case control.ModeName(prefs.Never):
		all = append(all, entry{resumeEntry, in(words.T("Resume")), mode(prefs.Auto, 0)})
	case control.ModeName(prefs.Always):
		all = append(all, entry{followEntry, in(words.T("Follow the preferences")), mode(prefs.Auto, 0)})
		fallthrough
	default:
		all = append(all, entry{hourEntry, in(words.T("Pause for 1 hour")), mode(prefs.Never, pause)}, entry{pauseEntry, in(words.T("Pause until resumed")), mode(prefs.Never, 0)})
	}
	return append(all, entry{id: secondLine}, entry{dashboardEntry, in(words.T("Open dashboard")), func(ctx context.Context) error {
		address, err := m.agent.Dashboard(ctx)
		if err == nil {
			m.browse(ctx, address)
		}
		return err
	}})
}

// The numbers of entries. 0 is the menu itself.
const (
	stateEntry int32 = iota + 1
	firstLine
	resumeEntry
	followEntry
	hourEntry
	pauseEntry
	secondLine
	dashboardEntry
)

// A layout is an entry, or the whole menu, as panels get it.
type layout struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

// properties returns the properties of an entry, or of the menu itself for 0.
func (m *menu) properties(id int32) map[string]dbus.Variant {
	if id == 0 {
		return map[string]dbus.Variant{"children-display": dbus.MakeVariant("submenu")}
	}
	e, _ := m.entry(id)
	if e.label == "" {
		return map[string]dbus.Variant{"type": dbus.MakeVariant("separator")}
	}
	return map[string]dbus.Variant{"label": dbus.MakeVariant(escaped(e.label)), "enabled": dbus.MakeVariant(e.do != nil)}
}

// escaped doubles underscores, since a single one marks the next letter as a shortcut.
func escaped(label string) string {
	out := make([]rune, 0, len(label))
	for _, c := range label {
		if out = append(out, c); c == '_' {
			out = append(out, c)
		}
	}
	return string(out)
}

// entry returns an entry that is in the menu now.
func (m *menu) entry(id int32) (e entry, ok bool) {
	i := slices.IndexFunc(m.entries, func(e entry) bool { return e.id == id })
	if i < 0 {
		return e, false
	}
	return m.entries[i], true
}

// has reports whether a number is of an entry in the menu, or of the menu.
func (m *menu) has(id int32) bool {
	_, ok := m.entry(id)
	return ok || id == 0
}

// GetLayout returns the menu, or one entry.
func (m *menu) GetLayout(parent, depth int32, _ []string) (revision uint32, l layout, _ *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.has(parent) {
		return 0, layout{}, unknown()
	}
	l = layout{parent, m.properties(parent), []dbus.Variant{}}
	if parent == 0 && depth != 0 {
		for _, e := range m.entries {
			l.Children = append(l.Children, dbus.MakeVariant(layout{e.id, m.properties(e.id), []dbus.Variant{}}))
		}
	}
	return m.revision, l, nil
}

// A group has the properties of one entry.
type group struct {
	ID    int32
	Props map[string]dbus.Variant
}

// GetGroupProperties returns the properties of entries.
func (m *menu) GetGroupProperties(ids []int32, _ []string) (all []group, _ *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all = []group{}
	for _, id := range ids[:min(len(ids), len(m.entries)+1)] {
		if m.has(id) {
			all = append(all, group{id, m.properties(id)})
		}
	}
	return all, nil
}

// GetProperty returns a property of an entry.
func (m *menu) GetProperty(id int32, name string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.has(id) {
		if v, ok := m.properties(id)[name]; ok {
			return v, nil
		}
	}
	return dbus.Variant{}, unknown()
}

// AboutToShow refreshes the menu, and reports whether the panel must get it again.
func (m *menu) AboutToShow(id int32) (update bool, _ *dbus.Error) {
	return id == 0 && m.opened(), nil
}

// AboutToShowGroup does the same for several.
func (m *menu) AboutToShowGroup(ids []int32) (updates, faults []int32, _ *dbus.Error) {
	updates, faults = []int32{}, []int32{}
	if slices.Contains(ids, 0) && m.opened() {
		updates = append(updates, 0)
	}
	return updates, faults, nil
}

// Event carries out a click of a person.
func (m *menu) Event(id int32, what string, _ dbus.Variant, _ uint32) *dbus.Error {
	m.mu.Lock()
	var do func(context.Context) error
	if e, ok := m.entry(id); ok && what == "clicked" {
		do = e.do
	}
	m.mu.Unlock()
	if do == nil {
		return nil
	}
	select {
	case m.clicks <- do: // the agent may be slow
	default:
	}
	return nil
}

// An event is one of several.
type event struct {
	ID   int32
	What string
	Data dbus.Variant
	At   uint32
}

// EventGroup carries out several.
func (m *menu) EventGroup(all []event) (faults []int32, _ *dbus.Error) {
	for _, e := range all {
		_ = m.Event(e.ID, e.What, e.Data, e.At)
	}
	return []int32{}, nil
}

func unknown() *dbus.Error { return dbus.MakeFailedError(errors.New("no such entry")) }
