package boincapi

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/starling-grid/starling/internal/namedmem"
	"github.com/starling-grid/starling/protocol/appipc"
)

var offers atomic.Int64

// offer creates the client's shared memory, and puts its name into the application's data.
func offer(t *testing.T, _ string, d *appipc.InitData) appipc.Channels {
	t.Helper()
	d.CommObjName = fmt.Sprintf("test_%d_%d", os.Getpid(), offers.Add(1))
	mem, err := namedmem.Create(appipc.SegmentName(d.CommObjName), appipc.MmapSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mem.Close() })
	c, err := appipc.NewChannels(mem.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return c
}
