package installer

import (
	"log/slog"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/eventlog"
)

// source is the event log's name for this program, in the log Application.
const source = title

// Numbers of events. EventCreate.exe of Windows, which provides their texts, supports those from 1
// to 1000.
const (
	started    = 1
	stopped    = 2
	errorEvent = 3
)

// addSource registers the source with the event log, even if it is registered already.
func addSource() error {
	_ = eventlog.Remove(source)
	return eventlog.InstallAsEventCreate(source, windows.EVENTLOG_INFORMATION_TYPE|windows.EVENTLOG_WARNING_TYPE|windows.EVENTLOG_ERROR_TYPE)
}

// events writes to the event log. If that is not available, it does nothing, since the agent works
// without it. It may be used concurrently.
type events struct{ log *eventlog.Log }

func openEvents() events {
	log, _ := eventlog.Open(source)
	return events{log}
}

func (e events) info(number uint32, text string) {
	if e.log != nil {
		_ = e.log.Info(number, text)
	}
}

func (e events) failed(text string) {
	if e.log != nil {
		_ = e.log.Error(errorEvent, text)
	}
}

func (e events) close() {
	if e.log != nil {
		_ = e.log.Close()
	}
}

// handler returns a handler that writes a log's errors to the event log.
func (e events) handler() slog.Handler { return record{write: e.failed} }
