package appipc

import (
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A Control is a message of the ControlRequest channel.
type Control string

// The requests of a client to an application.
const (
	Suspend Control = "<suspend/>"
	Resume  Control = "<resume/>"
	Quit    Control = "<quit/>"  // exit now, to be started again later
	Abort   Control = "<abort/>" // exit now, for good
	Reread  Control = "<reread_app_info/>"
)

// In reports whether the message contains c. Applications look for the tag anywhere in the text, so
// a message may contain more than one.
func (c Control) In(message string) bool { return strings.Contains(message, string(c)) }

// Messages of the trickle channels.
const (
	HaveNewTrickleUp  = "<have_new_trickle_up/>\n"
	HaveNewUploadFile = "<have_new_upload_file/>\n"
	HaveTrickleDown   = "<have_trickle_down/>\n"
	UploadFileStatus  = "<upload_file_status/>\n"
)

// A Heartbeat shows the application that its client is running.
type Heartbeat struct {
	WorkingSet       int64 // bytes that the task uses, as measured by the client
	MaxWorkingSet    int64 // bytes of memory that the client may use now. 0 is not sent.
	NetworkSuspended bool
}

// Encode returns the message of the Heartbeats channel.
func (h Heartbeat) Encode() string {
	var b strings.Builder
	b.WriteString("<heartbeat/>")
	number(&b, "wss", float64(h.WorkingSet), "")
	if h.MaxWorkingSet > 0 {
		number(&b, "max_wss", float64(h.MaxWorkingSet), "")
	}
	if h.NetworkSuspended {
		b.WriteString("<network_suspended/>")
	}
	return b.String()
}

// A Status is an application's report about itself.
type Status struct {
	CPUTime           time.Duration // over all runs of the result
	CheckpointCPUTime time.Duration // CPUTime when it last wrote a checkpoint
	FractionDone      float64       // 0..1, where 0 means unknown: clients ignore it
	WantNetwork       bool
	OtherPID          int   // a process to be killed with the task, or 0
	WorkingSet        int64 // bytes, from wrappers whose work runs elsewhere, or 0 if unknown
}

// Encode returns the message of the AppStatus channel.
func (t Status) Encode() string {
	var b strings.Builder
	number(&b, "current_cpu_time", t.CPUTime.Seconds(), "\n")
	number(&b, "checkpoint_cpu_time", t.CheckpointCPUTime.Seconds(), "\n")
	if t.WantNetwork {
		b.WriteString("<want_network>1</want_network>\n")
	} else {
		b.WriteString("<want_network>0</want_network>\n")
	}
	if t.FractionDone > 0 {
		number(&b, "fraction_done", t.FractionDone, "\n")
	}
	if t.OtherPID > 0 {
		b.WriteString("<other_pid>" + strconv.Itoa(t.OtherPID) + "</other_pid>\n")
	}
	if t.WorkingSet > 0 {
		number(&b, "wss", float64(t.WorkingSet), "\n")
	}
	return b.String()
}

// ParseStatus reads a message of the AppStatus channel. Missing, invalid and out-of-range values
// are zero.
func ParseStatus(message string) Status {
	var t Status
	var pid int64
	scan(message, func(x bxml.Codec) {
		duration(x, "current_cpu_time", &t.CPUTime)
		duration(x, "checkpoint_cpu_time", &t.CheckpointCPUTime)
		x.Float("fraction_done", &t.FractionDone)
		x.Flag("want_network", &t.WantNetwork)
		x.Int("other_pid", &pid)
		floatBytes(x, "wss", &t.WorkingSet)
	})
	if pid > 1 && pid < 1<<31 {
		t.OtherPID = int(pid)
	}
	t.FractionDone = min(max(t.FractionDone, 0), 1)
	t.CPUTime, t.CheckpointCPUTime = max(t.CPUTime, 0), max(t.CheckpointCPUTime, 0)
	t.WorkingSet = max(t.WorkingSet, 0)
	return t
}

// ParseGraphics reads a message of the GraphicsReply channel. It returns the address where the
// application's graphics can be seen. ok is false if the message does not contain one.
func ParseGraphics(message string) (address string, ok bool) {
	scan(message, func(x bxml.Codec) {
		x.Text("web_graphics_url", &address)
		x.Text("remote_desktop_addr", &address)
	})
	return address, address != ""
}

// scan reads a message, which does not have a root element, or the part of it that is complete.
func scan(message string, fields func(bxml.Codec)) {
	_ = bxml.NewScanner([]byte("<message>"+message+"</message>")).Decode("message", fields)
}

// number writes an element in the format of printf's %e.
func number(b *strings.Builder, name string, v float64, end string) {
	b.WriteString("<" + name + ">" + strconv.FormatFloat(v, 'e', 6, 64) + "</" + name + ">" + end)
}
