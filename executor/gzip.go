package executor

import (
	"compress/gzip"
	"errors"
	"io"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// compressed is the name of a compressed output in the slot.
const compressed = "starling_compressed"

// takeCompressed does the same as take for an output that is to be compressed. It removes the
// original last, so that after a crash the compression is only repeated.
//
// Source: BOINC client/cs_apps.cpp, CLIENT_STATE::app_finished: the file keeps its name, and its
// size and checksum are measured after the compression.
func (e *Executor) takeCompressed(t Task, s *slot, f File) error {
	src, err := foreigndir.Open(s.dir, f.inSlot())
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := foreigndir.Create(s.dir, compressed, 0o600)
	if err != nil {
		return err
	}
	w := gzip.NewWriter(dst)
	_, err = io.Copy(w, reader{e.ctx, src})
	if err := errors.Join(err, w.Close(), dst.Close()); err != nil {
		return err
	}
	if err := e.take(t, compressed, f.Physical); err != nil {
		return err
	}
	return s.dir.Remove(f.inSlot())
}
