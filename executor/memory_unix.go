//go:build unix

package executor

import (
	"errors"
	"io"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
)

// channels returns new, zeroed shared memory. A file that an earlier run has mapped is not reused.
func (s *slot) channels(*appipc.InitData) (channels, io.Closer, error) {
	f, err := foreigndir.Create(s.dir, appipc.MmapFile, 0o660)
	if err != nil {
		return nil, nil, err
	}
	if err = errors.Join(f.Truncate(appipc.MmapSize), s.give(f)); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return appipc.NewFileChannels(f), f, nil
}
