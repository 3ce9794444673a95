package desktop

import (
	"encoding/binary"
	"errors"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// returnedEvent is the event of an X server's alarm.
type returnedEvent struct{}

// Bytes returns nothing: it is never sent.
func (returnedEvent) Bytes() []byte { return nil }

// String names it.
func (returnedEvent) String() string { return "AlarmNotify" }

// The requests and events of the extension SYNC, which xgb lacks.
//
// Source: X Synchronization Extension Protocol, version 3.1.
const (
	syncInitialize         = 0
	syncListSystemCounters = 1
	syncCreateAlarm        = 8
	alarmNotify            = 1
	negativeTransition     = 1
)

// alarm makes an X server send an event whenever people return who were away.
func alarm(c *xgb.Conn) error {
	const name = "SYNC"
	ext, err := xproto.QueryExtension(c, uint16(len(name)), name).Reply()
	if err != nil {
		return err
	}
	if !ext.Present {
		return errors.New("no extension SYNC")
	}
	xgb.NewEventFuncs[int(ext.FirstEvent)+alarmNotify] = func([]byte) xgb.Event { return returnedEvent{} }
	call := func(request byte, words ...uint32) ([]byte, error) {
		reply := request != syncCreateAlarm
		cookie := c.NewCookie(true, reply)
		c.NewRequest(xRequest(ext.MajorOpcode, request, words), cookie)
		if !reply {
			return nil, cookie.Check()
		}
		return cookie.Reply()
	}
	if _, err := call(syncInitialize, 3|1<<8); err != nil {
		return err
	}
	list, err := call(syncListSystemCounters)
	if err != nil {
		return err
	}
	counter, ok := systemCounter(list, "IDLETIME")
	if !ok {
		return errors.New("no counter IDLETIME")
	}
	id, err := c.NewId()
	if err != nil {
		return err
	}
	const all = 1<<6 - 1                                                                                             // counter, type of value (absolute), value, test, delta, events
	_, err = call(syncCreateAlarm, id, all, counter, 0, 0, uint32(away.Milliseconds()), negativeTransition, 0, 0, 1) //nolint:gosec // some seconds
	return err
}

func xRequest(opcode, request byte, words []uint32) []byte {
	b := []byte{opcode, request}
	b = binary.LittleEndian.AppendUint16(b, uint16(1+len(words))) //nolint:gosec // a dozen
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// systemCounter finds a counter in a reply to ListSystemCounters.
func systemCounter(reply []byte, name string) (id uint32, ok bool) {
	const start, fixed = 32, 14 // id, resolution, length of the name
	for rest := reply[min(start, len(reply)):]; len(rest) >= fixed; {
		n := int(binary.LittleEndian.Uint16(rest[12:]))
		if len(rest) < fixed+n {
			break
		}
		if string(rest[fixed:fixed+n]) == name {
			return binary.LittleEndian.Uint32(rest), true
		}
		rest = rest[min((fixed+n+3)&^3, len(rest)):]
	}
	return 0, false
}
