// Package appipc implements the formats that BOINC's client and an application exchange in a slot:
// init_data.xml, the shared-memory channels and their messages, soft links, and the small files
// that report how a run ended. Client (package executor) and application (package boincapi) both
// use it.
//
// It opens no files, maps no memory and starts nothing. It defines only the form of messages, not
// when they are sent.
package appipc

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// A Channel is one of the eight one-message mailboxes in the shared memory.
type Channel int

// The channels, in the order of their place in memory.
const (
	ControlRequest  Channel = 0 // client to application: suspend, resume, quit, abort
	ControlReply    Channel = 1 // unused by both sides
	GraphicsRequest Channel = 2 // unused today
	GraphicsReply   Channel = 3 // application to client: where its graphics are
	Heartbeats      Channel = 4 // client to application, with every poll
	AppStatus       Channel = 5 // application to client: CPU time, fraction done
	TrickleUp       Channel = 6 // application to client: a trickle file is in the slot
	TrickleDown     Channel = 7 // client to application: a trickle file is in the slot
)

// Sizes of the shared memory. MaxText leaves room for the flag and the NUL.
const (
	NumChannels = 8
	ChannelSize = 1024
	MmapSize    = NumChannels * ChannelSize
	MaxText     = ChannelSize - 2
)

// SegmentName returns the name under which Windows has the memory that init_data.xml calls
// commObjName. An application first looks for the same name in the namespace of all sessions.
//
// Source: BOINC lib/app_ipc.h, SHM_PREFIX.
func SegmentName(commObjName string) string { return "shm_" + commObjName }

// Channels is the shared memory of one run. Each channel has one sender and one receiver, each of
// which may be used by one goroutine at a time. The zero value has no memory: it neither sends nor
// receives anything.
type Channels struct {
	mem []byte
}

// NewChannels uses mem, which must stay mapped for as long as the result is used, must have
// MmapSize bytes, and must be aligned to 4.
func NewChannels(mem []byte) (Channels, error) {
	if len(mem) < MmapSize {
		return Channels{}, fmt.Errorf("shared memory has %d bytes, want %d", len(mem), MmapSize)
	}
	if uintptr(unsafe.Pointer(&mem[0]))%4 != 0 { //nolint:gosec // the address is only looked at
		return Channels{}, fmt.Errorf("shared memory is not aligned")
	}
	return Channels{mem: mem}, nil
}

// Open reports whether the channels have memory.
func (c Channels) Open() bool { return c.mem != nil }

// Send puts text into the channel. It returns false and does nothing if the last message is still
// unread, if text is longer than MaxText, or without memory.
func (c Channels) Send(ch Channel, text string) bool {
	if c.mem == nil || len(text) > MaxText || c.Pending(ch) {
		return false
	}
	// The peer looks at the flag without a lock, so the flag is written last: one aligned store
	// makes it visible together with the first three bytes, after all the others.
	var first [4]byte
	first[0] = 1
	n := copy(first[1:], text)
	if len(text) > n {
		rest := c.mem[int(ch)*ChannelSize+4 : (int(ch)+1)*ChannelSize]
		rest[copy(rest, text[n:])] = 0
	} else {
		c.mem[int(ch)*ChannelSize+4] = 0
	}
	atomic.StoreUint32(c.word(ch), *(*uint32)(unsafe.Pointer(&first))) //nolint:gosec // four bytes as a word
	return true
}

// Receive takes the waiting message out of the channel. ok is false if there is none.
func (c Channels) Receive(ch Channel) (text string, ok bool) {
	if c.mem == nil {
		return "", false
	}
	word := atomic.LoadUint32(c.word(ch))
	first := *(*[4]byte)(unsafe.Pointer(&word)) //nolint:gosec // a word as four bytes
	if first[0] == 0 {
		return "", false
	}
	var b [ChannelSize - 1]byte
	copy(b[:3], first[1:])
	copy(b[3:], c.mem[int(ch)*ChannelSize+4:(int(ch)+1)*ChannelSize])
	first[0] = 0
	atomic.StoreUint32(c.word(ch), *(*uint32)(unsafe.Pointer(&first))) //nolint:gosec // four bytes as a word
	n := bytes.IndexByte(b[:], 0)
	if n < 0 {
		n = len(b)
	}
	return string(b[:n]), true
}

// Pending reports whether the channel contains a message that has not been received.
func (c Channels) Pending(ch Channel) bool {
	if c.mem == nil {
		return false
	}
	word := atomic.LoadUint32(c.word(ch))
	return (*(*[4]byte)(unsafe.Pointer(&word)))[0] != 0 //nolint:gosec // a word as four bytes
}

func (c Channels) word(ch Channel) *uint32 {
	return (*uint32)(unsafe.Pointer(&c.mem[int(ch)*ChannelSize])) //nolint:gosec // NewChannels checked size and alignment
}
