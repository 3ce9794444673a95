//go:build unix

package boincapi

import (
	"errors"
	"os"

	"github.com/starling-grid/starling/internal/mmapfile"
	"github.com/starling-grid/starling/protocol/appipc"
)

var errSystemV = errors.New("client offers System V shared memory only")

// attach maps the client's shared memory.
func (a *App) attach() error {
	if a.init.SHMKey != -1 {
		return errSystemV
	}
	f, err := os.OpenFile(appipc.MmapFile, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	mem, err := mmapfile.Map(f, appipc.MmapSize)
	if err != nil {
		return err
	}
	a.ipc, err = appipc.NewChannels(mem)
	return err
}
