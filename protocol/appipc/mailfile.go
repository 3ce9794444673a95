package appipc

import (
	"bytes"
	"io"
)

// FileChannels are the same mailboxes as [Channels], but accessed by reading and writing the file
// that the application has mapped. The system shows both sides the same bytes. If the application
// damages the file, for example by truncating it, only a read fails here. With a mapping, the whole
// process would crash (SIGBUS).
//
// Each channel has one sender and one receiver, each of which may be used by one goroutine at a
// time. The zero value has no file: it neither sends nor receives anything.
type FileChannels struct {
	f readWriterAt
}

type readWriterAt interface {
	io.ReaderAt
	io.WriterAt
}

// NewFileChannels uses a file of MmapSize bytes, which must stay open for as long as the result is
// used.
func NewFileChannels(f readWriterAt) FileChannels { return FileChannels{f} }

// Open reports whether the channels have a file.
func (c FileChannels) Open() bool { return c.f != nil }

// Send puts text into the channel. It returns false if the last message is still unread, if text is
// longer than MaxText, or if the file cannot be used.
func (c FileChannels) Send(ch Channel, text string) bool {
	if c.f == nil || len(text) > MaxText || c.Pending(ch) {
		return false
	}
	at := int64(ch) * ChannelSize
	if _, err := c.f.WriteAt(append([]byte(text), 0), at+1); err != nil {
		return false
	}
	_, err := c.f.WriteAt([]byte{1}, at) // the peer reads the flag first
	return err == nil
}

// Receive takes the waiting message out of the channel. ok is false if there is none.
func (c FileChannels) Receive(ch Channel) (text string, ok bool) {
	at := int64(ch) * ChannelSize
	if full, err := c.full(ch); err != nil || !full {
		return "", false
	}
	var b [ChannelSize - 1]byte
	if _, err := c.f.ReadAt(b[:], at+1); err != nil {
		return "", false
	}
	if _, err := c.f.WriteAt([]byte{0}, at); err != nil {
		return "", false
	}
	before, _, _ := bytes.Cut(b[:], []byte{0})
	return string(before), true
}

// Pending reports whether the channel contains a message that has not been received. A channel that
// cannot be read counts as pending.
func (c FileChannels) Pending(ch Channel) bool {
	full, err := c.full(ch)
	return err != nil || full
}

func (c FileChannels) full(ch Channel) (bool, error) {
	if c.f == nil {
		return false, nil
	}
	var flag [1]byte
	_, err := c.f.ReadAt(flag[:], int64(ch)*ChannelSize)
	return flag[0] != 0, err
}
