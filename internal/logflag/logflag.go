// Package logflag switches kinds of lines in a log on and off by the names of BOINC's log flags. A
// line names its kind in an attribute with the key Key.
package logflag

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
)

// Key is the key of the attribute that names the kind of a line.
const Key = "flag"

// Detail is the level of lines that come every second: they are written for their
// flag only.
const Detail = slog.LevelDebug - 4

// The flags. The first three are on unless switched off. BOINC's other flags have nothing to switch
// here.
const (
	Task          = "task"
	FileXfer      = "file_xfer"
	SchedOps      = "sched_ops"
	AppMsgReceive = "app_msg_receive"
	AppMsgSend    = "app_msg_send"
	Checkpoint    = "checkpoint_debug"
	CPUSched      = "cpu_sched"
	CPUSchedDebug = "cpu_sched_debug"
	DCF           = "dcf_debug"
	DiskUsage     = "disk_usage_debug"
	FileXferDebug = "file_xfer_debug"
	GUIRPC        = "gui_rpc_debug"
	Heartbeat     = "heartbeat_debug"
	HTTP          = "http_debug"
	MemUsage      = "mem_usage_debug"
	Notice        = "notice_debug"
	NetworkStatus = "network_status_debug"
	Priority      = "priority_debug"
	SchedOpDebug  = "sched_op_debug"
	Slot          = "slot_debug"
	State         = "state_debug"
	Suspend       = "suspend_debug"
	TaskDebug     = "task_debug"
	Trickle       = "trickle_debug"
	WorkFetch     = "work_fetch_debug"

	// SchedDecision keeps every pass of the policies in a file, for starling
	// simulate --replay. It is not one of BOINC's.
	SchedDecision = "sched_decision"
)

// Names are all flags.
var Names = []string{
	Task, FileXfer, SchedOps, AppMsgReceive, AppMsgSend, Checkpoint, CPUSched, CPUSchedDebug, DCF, DiskUsage, FileXferDebug, GUIRPC, Heartbeat,
	HTTP, MemUsage, NetworkStatus, Notice, Priority, SchedOpDebug, Slot, State, Suspend, TaskDebug, Trickle, WorkFetch, SchedDecision,
}

// Defaults are all flags, and which of them are on.
func Defaults() map[string]bool {
	all := make(map[string]bool, len(Names))
	for _, name := range Names {
		all[name] = usual(name)
	}
	return all
}

// usual reports whether a flag is on unless switched off.
func usual(name string) bool { return name == Task || name == FileXfer || name == SchedOps }

// Switches are the flags that are on just now. They may be used concurrently.
type Switches struct{ now atomic.Pointer[switches] }

type switches struct {
	flags map[string]bool
	some  bool // some flag is on that usually is not
}

// New makes switches of flags, which are not changed any more.
func New(flags map[string]bool) *Switches {
	s := new(Switches)
	s.Set(flags)
	return s
}

// Set replaces all of them.
func (s *Switches) Set(flags map[string]bool) {
	now := &switches{flags: flags}
	for name, on := range flags {
		now.some = now.some || on && !usual(name)
	}
	s.now.Store(now)
}

// Handler passes on all lines whose flag is on, at the level Info at least. It drops lines at the
// level Info whose flag is off. All other lines go by their level.
func Handler(next slog.Handler, s *Switches) slog.Handler { return handler{next: next, switches: s} }

type handler struct {
	next     slog.Handler
	switches *Switches
	own      string // the flag of all lines of this logger
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.switches.now.Load().some || h.next.Enabled(ctx, l)
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	flag := h.own
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == Key {
			flag = a.Value.String()
		}
		return true
	})
	switch on, set := h.switches.now.Load().flags[flag]; {
	case on:
		r.Level = max(r.Level, slog.LevelInfo)
	case set && r.Level == slog.LevelInfo, !h.next.Enabled(ctx, r.Level):
		return nil
	}
	return h.next.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if i := slices.IndexFunc(attrs, func(a slog.Attr) bool { return a.Key == Key }); i >= 0 {
		h.own = attrs[i].Value.String()
	}
	h.next = h.next.WithAttrs(attrs)
	return h
}

func (h handler) WithGroup(name string) slog.Handler {
	h.next = h.next.WithGroup(name)
	return h
}
