package boincapi

import (
	"errors"

	"github.com/starling-grid/starling/internal/namedmem"
	"github.com/starling-grid/starling/protocol/appipc"
)

var errNoSegment = errors.New("client offers no shared memory")

// attach opens the client's shared memory. It first tries the namespace of all sessions, where a
// client that runs its tasks as another user puts it.
func (a *App) attach() error {
	if a.init.CommObjName == "" {
		return errNoSegment
	}
	name := appipc.SegmentName(a.init.CommObjName)
	mem, err := namedmem.Open(`Global\`+name, appipc.MmapSize)
	if err != nil {
		mem, err = namedmem.Open(name, appipc.MmapSize)
	}
	if err != nil {
		return err
	}
	a.ipc, err = appipc.NewChannels(mem.Bytes())
	return err
}
