package appipc

import (
	"bytes"
	"io"
)

// FileChannels are the same mailboxes as [Channels], reached by reading and
// writing the file that the application has mapped. The system shows both
// sides the same bytes. Whatever the application does to the file, even
// truncating it, ends here as a failed read: a mapping would take the whole
// process down with it (SIGBUS).
//
// Each channel has one sender and one receiver; of those, each end may be used
// by one goroutine at a time. The zero value has no file: it sends nothing and
// receives nothing.
type FileChannels struct {
	f readWriterAt
}

type readWriterAt interface {
	io.ReaderAt
	io.WriterAt
}

// NewFileChannels uses a file of MmapSize bytes, which must stay open for as
// long as the result is used.
func NewFileChannels(f readWriterAt) FileChannels { return FileChannels{f} }

// Open reports whether there is a file.
func (c FileChannels) Open() bool { return c.f != nil }

// Send puts text into the channel. It reports false if the last message is still
// unread, if text is longer than MaxText, or if the file cannot be used.
func (c FileChannels) Send(ch Channel, text string) bool {
	if c.f == nil || len(text) > MaxText || c.Pending(ch) {
		return false
	}
	at := int64(ch) * ChannelSize
	if _, err := c.f.WriteAt(append([]byte(text), 0), at+1); err != nil {
		return false
	}
	_, err := c.f.WriteAt([]byte{1}, at) // the peer looks at the flag first
	return err == nil
}

// Receive takes the waiting message out of the channel; ok is false if there is
// none.
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

// Pending reports whether the channel holds a message that was not received. One
// that cannot be read will never be: it counts as pending.
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
