package state

import (
	"fmt"

	"github.com/starling-grid/starling/protocol"
)

// An Event is something that moves a result from one state to another.
type Event int

// All events of a result's life.
const (
	FilesNeeded Event = iota + 1
	DownloadsDone
	DownloadFailed
	Finished
	ComputeFailed
	UploadsDone
	UploadGivenUp
	AbortRequested
	events
)

var eventNames = [events]string{
	FilesNeeded: "files needed", DownloadsDone: "downloads done", DownloadFailed: "download failed",
	Finished: "finished", ComputeFailed: "compute failed", UploadsDone: "uploads done",
	UploadGivenUp: "upload given up", AbortRequested: "abort requested",
}

func (e Event) String() string {
	if e <= 0 || e >= events {
		return fmt.Sprintf("event %d", int(e))
	}
	return eventNames[e]
}

// transitions are the legal moves. All other events are ignored.
var transitions = map[protocol.ClientState]map[Event]protocol.ClientState{
	protocol.ClientNew: {
		FilesNeeded:    protocol.ClientDownloading,
		AbortRequested: protocol.ClientAborted,
	},
	protocol.ClientDownloading: {
		DownloadsDone:  protocol.ClientDownloaded,
		DownloadFailed: protocol.ClientDownloading, // reported in this state, as BOINC does
		AbortRequested: protocol.ClientAborted,
	},
	protocol.ClientDownloaded: {
		FilesNeeded:    protocol.ClientDownloading, // a file went missing before the start
		Finished:       protocol.ClientUploading,
		ComputeFailed:  protocol.ClientComputeError,
		AbortRequested: protocol.ClientAborted,
	},
	protocol.ClientUploading: {
		UploadsDone:    protocol.ClientUploaded,
		UploadGivenUp:  protocol.ClientUploadFailed,
		AbortRequested: protocol.ClientAborted,
	},
	protocol.ClientComputeError: {},
	protocol.ClientUploaded:     {},
	protocol.ClientAborted:      {},
	protocol.ClientUploadFailed: {},
}

// Next returns the state that follows from s when e happens. ok is false if e is ignored in s.
func Next(s protocol.ClientState, e Event) (next protocol.ClientState, ok bool) {
	next, ok = transitions[s][e]
	return next, ok
}
