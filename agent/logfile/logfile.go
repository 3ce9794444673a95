// Package logfile keeps the agent's log in its data directory, where no journal of
// the system keeps it: one JSON object a line, in a file that starts over when it is
// full.
package logfile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/starling-grid/starling/agent/control"
)

// Name is the file's name in the data directory. The names of older files include their time.
const Name = "stdout.log"

// older matches the names of full files. Sorted by name, they are also sorted by time.
const older = "stdout-*.log"

// maxLine is the longest line, in bytes, that is read.
const maxLine = 1 << 20

// A File takes the log.
type File struct{ to *rotating }

// Open returns the log file of a data directory. It is renamed when it would grow
// over maxMB megabytes, and keep of the renamed ones stay. Nothing is made before the
// first line is written. The caller closes it.
func Open(dataDir string, maxMB, keep int) *File {
	return &File{&rotating{dir: dataDir, most: int64(maxMB) << 20, keep: keep}}
}

// Close closes the file.
func (f *File) Close() error {
	f.to.mu.Lock()
	defer f.to.mu.Unlock()
	return f.to.close()
}

// Handler writes records of at least a level into the file.
func (f *File) Handler(least slog.Level) slog.Handler { return &handler{to: f.to, least: least} }

// A handler may be used concurrently, as its writer may.
type handler struct {
	to    io.Writer
	least slog.Level
	own   []slog.Attr
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.least }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	b, err := json.Marshal(control.NewMessage(r, h.own))
	if err != nil {
		return err
	}
	_, err = h.to.Write(append(b, '\n'))
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.to, h.least, slices.Concat(h.own, attrs)}
}

func (h *handler) WithGroup(string) slog.Handler { return h } // not used for what people read

// Last reads the last n messages that are wanted, the oldest first. The error wraps
// fs.ErrNotExist when there is no file.
func Last(dataDir string, n int, want func(control.Message) bool) ([]control.Message, error) {
	names, err := fullFiles(dataDir)
	if err != nil {
		return nil, err
	}
	var last []control.Message
	for _, name := range append(names, Name) {
		err := read(filepath.Join(dataDir, name), func(m control.Message) {
			if !want(m) {
				return
			}
			if last = append(last, m); len(last) > 2*n+1000 {
				last = append(last[:0], last[len(last)-n:]...)
			}
		})
		if errors.Is(err, fs.ErrNotExist) && len(last) > 0 {
			continue
		} else if err != nil {
			return nil, err
		}
	}
	return last[max(0, len(last)-n):], nil
}

func read(name string, each func(control.Message)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var m control.Message
		if json.Unmarshal(lines.Bytes(), &m) == nil { // a power cut may leave half a line
			each(m)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
