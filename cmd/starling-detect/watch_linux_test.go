package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/internal/testwait"
)

// replies reads the program's output.
type replies struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (r replies) next() (reply gpus.Reply, ok bool) {
	for r.lines.Scan() {
		if text := r.lines.Text(); text != "" {
			if err := json.Unmarshal([]byte(text), &reply); err != nil {
				r.t.Errorf("got %q: %v", text, err)
			}
			return reply, true
		}
	}
	return reply, false
}

var read = []gpus.Reading{
	{Kind: "NVIDIA", PCI: "0001:28:00.0", Celsius: 71, Busy: 0.98, Watts: 310.5, MemoryUsed: 5 << 30, Memory: 12 << 30},
	{Kind: "NVIDIA", PCI: "0001:29:00.0", Busy: -1},
}

func TestNVIDIASensors(t *testing.T) {
	program, dir := build(t), drivers(t)
	for fails, want := range map[string]gpus.Reply{
		"":                   {Library: "libnvidia-ml.so.1", Readings: read},
		"nvmlInit":           {Library: "libnvidia-ml.so.1", Error: "nvmlInit: the driver is not loaded (9)"},
		"nvmlDeviceGetCount": {Library: "libnvidia-ml.so.1", Error: "nvmlDeviceGetCount: the device has fallen off the bus; restart the computer (15)"},
		"crash":              {},
	} {
		cmd := exec.Command(program, gpus.NVIDIASensors)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "NVML_FAIL="+fails)
		in, _ := cmd.StdinPipe()
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := replies{t, bufio.NewScanner(out)}
		got, ok := said.next()
		if ok == (fails == "crash") || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", fails, got, ok, want)
		}
		_ = in.Close() // the agent has ended, and so it does
		for ok {
			_, ok = said.next()
		}
		if err := cmd.Wait(); (err == nil) == (fails == "crash") {
			t.Errorf("%s: it ends with %v", fails, err)
		}
	}
}

func TestWithoutNVML(t *testing.T) {
	out, _ := ask(t, build(t), gpus.NVIDIASensors)
	var got gpus.Reply
	if err := json.Unmarshal([]byte(strings.TrimSpace(out)), &got); err != nil || got.Library == "" && !got.Missing {
		t.Errorf("got %s, %v", out, err)
	}
}

// The agent's side and this program understand each other.
func TestAMeterReadsNVIDIAsSensors(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", drivers(t))
	t.Setenv("HOST_SYS", t.TempDir()) // no other GPUs
	m := gpus.Meter{Detector: gpus.Detector{Program: build(t)}}
	testwait.Until(t, "a reading", func() bool {
		got := m.Read(t.Context(), time.Now(), true)
		if len(got) > 0 && !reflect.DeepEqual(got, read) {
			t.Fatalf("got %+v", got)
		}
		return len(got) > 0
	})
}
