package executor

import (
	"errors"
	"fmt"
	"io"

	"github.com/starling-grid/starling/internal/namedmem"
	"github.com/starling-grid/starling/protocol/appipc"
)

// maxSegments is the number of tasks of all agents and clients of a session that can run at once.
//
// Source: BOINC client/app_start.cpp, ACTIVE_TASK::get_shmem_seg_name. The names are the same, too.
const maxSegments = 1024

// channels returns new, zeroed shared memory and adds its name to the data that the application
// receives. Other programs on this computer may use such names as well.
func (s *slot) channels(d *appipc.InitData) (channels, io.Closer, error) {
	for i := range maxSegments {
		name := fmt.Sprintf("boinc_%d", i)
		mem, err := namedmem.Create(appipc.SegmentName(name), appipc.MmapSize)
		if errors.Is(err, namedmem.ErrExists) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		c, err := appipc.NewChannels(mem.Bytes())
		if err != nil {
			return nil, nil, errors.Join(err, mem.Close())
		}
		d.CommObjName = name
		return c, mem, nil
	}
	return nil, nil, fmt.Errorf("shared memory: all %d names are in use", maxSegments)
}
