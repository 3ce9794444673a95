package appipc_test

import (
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol/appipc"
)

func newChannels(t testing.TB) (appipc.Channels, []byte) {
	t.Helper()
	mem := make([]byte, appipc.MmapSize)
	c, err := appipc.NewChannels(mem)
	if err != nil {
		t.Fatal(err)
	}
	return c, mem
}

func TestChannelHoldsOneMessage(t *testing.T) {
	c, _ := newChannels(t)
	for n := range appipc.MaxText + 1 {
		text := strings.Repeat("x", n)
		if !c.Send(appipc.AppStatus, text) {
			t.Fatalf("send of %d bytes refused", n)
		}
		if c.Send(appipc.AppStatus, "again") {
			t.Fatal("second message overwrote the first")
		}
		if !c.Pending(appipc.AppStatus) || c.Pending(appipc.Heartbeats) {
			t.Fatal("pending is wrong about which channel is full")
		}
		if got, ok := c.Receive(appipc.AppStatus); !ok || got != text {
			t.Fatalf("got %q %v, want %d bytes", got, ok, n)
		}
		if _, ok := c.Receive(appipc.AppStatus); ok {
			t.Fatal("message received twice")
		}
	}
	if c.Send(appipc.AppStatus, strings.Repeat("x", appipc.MaxText+1)) {
		t.Error("message without room for its NUL was sent")
	}
}

// The bytes are the same as in a dump of a real application's memory.
func TestChannelBytesAreBOINCs(t *testing.T) {
	c, mem := newChannels(t)
	c.Send(appipc.Heartbeats, appipc.Heartbeat{WorkingSet: 3104768, MaxWorkingSet: 22748850000}.Encode())
	want := "013c6865617274626561742f3e3c7773733e332e31303437363865" +
		"2b30363c2f7773733e3c6d61785f7773733e322e323734383835652b31303c2f6d61785f7773733e00"
	if got := hex.EncodeToString(mem[0x1000 : 0x1000+len(want)/2]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMemoryWithoutAnyNUL(t *testing.T) {
	c, mem := newChannels(t)
	for i := range mem {
		mem[i] = 'x'
	}
	if got, ok := c.Receive(appipc.TrickleDown); !ok || len(got) != appipc.ChannelSize-1 {
		t.Errorf("got %d bytes, %v", len(got), ok)
	}
}

func TestNoMemory(t *testing.T) {
	var c appipc.Channels
	if c.Send(appipc.AppStatus, "x") || c.Pending(appipc.AppStatus) {
		t.Error("message sent into no memory")
	}
	if _, err := appipc.NewChannels(make([]byte, 100)); err == nil {
		t.Error("short memory accepted")
	}
}

func TestMessagesArriveWholeAndInOrder(t *testing.T) {
	c, _ := newChannels(t)
	const messages = 2000
	go func() {
		for i := 0; i < messages; {
			if c.Send(appipc.ControlRequest, fmt.Sprintf("%d %s", i, strings.Repeat("y", i%900))) {
				i++
			} else {
				runtime.Gosched() // otherwise a single processor would spin until the end of its time slice
			}
		}
	}()
	for i := 0; i < messages; {
		got, ok := c.Receive(appipc.ControlRequest)
		if !ok {
			runtime.Gosched()
			continue
		}
		if want := fmt.Sprintf("%d %s", i, strings.Repeat("y", i%900)); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		i++
	}
}
