package wayland

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxMessage is the maximum size of a message in bytes, as in libwayland.
const maxMessage = 4096

const header = 8

// A message is one event or request. It has an object, an operation's number and arguments.
//
// Source: the Wayland protocol specification, "Wire Format".
type message struct {
	object uint32
	opcode uint16
	body   []byte
}

var errMalformed = errors.New("the compositor sent a malformed message")

// read reads the next message. Its body is valid until the next call with the same buffer.
func read(r io.Reader, buf *[maxMessage]byte) (m message, err error) {
	if _, err := io.ReadFull(r, buf[:header]); err != nil {
		return m, err
	}
	m.object = binary.NativeEndian.Uint32(buf[:])
	word := binary.NativeEndian.Uint32(buf[4:])
	size := int(word >> 16)
	m.opcode = uint16(word) //nolint:gosec // its lower half
	if size < header || size > maxMessage || size%4 != 0 {
		return m, fmt.Errorf("%w of %d bytes", errMalformed, size)
	}
	m.body = buf[header:size]
	_, err = io.ReadFull(r, m.body)
	return m, err
}

// bytes returns the message as it is sent.
func (m message) bytes() []byte {
	b := make([]byte, header, header+len(m.body))
	binary.NativeEndian.PutUint32(b, m.object)
	binary.NativeEndian.PutUint32(b[4:], uint32(header+len(m.body))<<16|uint32(m.opcode)) //nolint:gosec // our own, and short
	return append(b, m.body...)
}

func number(b []byte, n uint32) []byte { return binary.NativeEndian.AppendUint32(b, n) }

func text(b []byte, s string) []byte {
	b = append(number(b, uint32(len(s)+1)), s...) //nolint:gosec // our own, and short
	for b = append(b, 0); len(b)%4 != 0; {
		b = append(b, 0)
	}
	return b
}

// arguments takes the arguments of an event apart. After the first that is not there all are zero.
type arguments struct {
	rest []byte
	err  error
}

func (a *arguments) number() uint32 {
	if len(a.rest) < 4 {
		a.rest, a.err = nil, errMalformed
		return 0
	}
	n := binary.NativeEndian.Uint32(a.rest)
	a.rest = a.rest[4:]
	return n
}

func (a *arguments) text() string {
	n := int(a.number())
	padded := (n + 3) &^ 3
	if n < 1 || padded > len(a.rest) || a.rest[n-1] != 0 {
		a.rest, a.err = nil, errMalformed
		return ""
	}
	s := string(a.rest[:n-1])
	a.rest = a.rest[padded:]
	return s
}
