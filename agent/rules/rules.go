// Package rules has the agent's rules: the files that people edit, the projects that they attach it
// to, and how it leaves one.
//
//	accounts.go  reading the files; which projects there are
//	prefs.go     the preferences in force, those of projects' web sites among them
//	ending.go    projects that are detached or reset, and how that is taken back
//	host.go      what the settings make of the computer
//	own.go       programs of the volunteer's own, which compute a project's tasks
package rules

import (
	"sync/atomic"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/files"
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/protocol"
)

// Rules are the rules of one agent. They belong to its loop.
type Rules struct {
	*core.Core
	Life     *life.Life
	Files    *files.Files
	Presence *usage.Presence
	Talk     Conversations
	Probed   protocol.HostInfo // the computer's properties before the settings apply

	language atomic.Pointer[string] // in which projects are asked to answer

	faults    error            // of preferences and accounts
	ownFaults map[string]error // of app_info.xml, by project
	// unremoved are the projects whose files could not be removed. It is lost at a restart, and may be.
	unremoved map[string]unremoved
}

// Conversations are the conversations with projects in progress.
type Conversations interface {
	// Talks reports whether there is one with a project.
	Talks(project string) bool
	// Cancel breaks it off, and reports whether there was one.
	Cancel(project string) bool
}

// FilesChanged is an event: files that people edit have changed.
type FilesChanged struct{}

// Event names it.
func (FilesChanged) Event() string { return "files changed" }

// Handle handles an event, if it belongs to this component.
func (ru *Rules) Handle(e core.Event) bool {
	_, ok := e.(FilesChanged)
	if ok {
		ru.Changed()
	}
	return ok
}
