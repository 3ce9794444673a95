package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/opencl"
	"github.com/starling-grid/starling/protocol/appipc"
)

// host plays boincapi.App.
type host struct {
	fractions []float64
	stopAfter int // batches, 0 to run to the end
	saved     int
}

var errStopped = errors.New("stopped")

func (h *host) Yield() error {
	if h.stopAfter > 0 && len(h.fractions) == h.stopAfter {
		return errStopped
	}
	return nil
}
func (h *host) FractionDone(f float64) { h.fractions = append(h.fractions, f) }
func (h *host) TimeToCheckpoint() bool { return true }
func (h *host) CheckpointCompleted()   { h.saved++ }

// million is the result of all numbers up to a million. The total is the device's and the
// CPU's, which agree.
//
// Source for the longest: OEIS A006877.
const million = "numbers 1 to 1000000\nlongest 837799 with 524 steps\ntotal 131434424 steps\n"

func TestAMillionOnTheCPU(t *testing.T) {
	t.Chdir(t.TempDir())
	var h host
	got, err := search(span{1, 1_000_000}, onCPU, &h)
	if err != nil || got != million {
		t.Errorf("got %q, %v; want %q", got, err, million)
	}
	if !slices.IsSorted(h.fractions) || h.fractions[len(h.fractions)-1] != 1 || h.saved != len(h.fractions) {
		t.Errorf("fractions %v, %d checkpoints", h.fractions, h.saved)
	}
}

// real returns the last OpenCL device of this computer. It skips the test if there is none.
func real(t *testing.T) counts {
	t.Helper()
	lib, err := opencl.Open()
	if err != nil {
		t.Skip(err)
	}
	d, err := lib.Choose("any", 0)
	if err != nil {
		t.Skip(err)
	}
	count, err := onDevice(d)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestAMillionOnADevice(t *testing.T) {
	count := real(t)
	t.Chdir(t.TempDir())
	if got, err := search(span{1, 1_000_000}, count, &host{}); err != nil || got != million {
		t.Errorf("got %q, %v; want %q", got, err, million)
	}
}

// The device and the CPU agree on every number, also where these grow largest and where
// they grow too large.
func TestTheDeviceAgreesWithTheCPU(t *testing.T) {
	count := real(t)
	for _, first := range []uint64{1, 8528817511 - 50, largest - 99, 12327829503 - 50, 1<<63 - 50, 1<<64 - 101} {
		cpu, device := make([]uint64, 100), make([]uint64, 100)
		if err := errors.Join(onCPU(first, cpu), count(first, device)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(cpu, device) {
			t.Errorf("from %d: CPU %v, device %v", first, cpu, device)
		}
		if grown := slices.Contains(cpu, tooMany); grown != (first > largest) {
			t.Errorf("from %d: too large: %v", first, grown)
		}
	}
}

func TestItResumesAtEveryCheckpoint(t *testing.T) {
	t.Chdir(t.TempDir())
	r := span{1, 1_000_000}
	for runs := 1; ; runs++ {
		got, err := search(r, onCPU, &host{stopAfter: 3})
		if errors.Is(err, errStopped) {
			continue
		}
		if err != nil || got != million || runs != 6 { // 16 batches
			t.Errorf("after %d runs: %q, %v", runs, got, err)
		}
		break
	}
	if got, err := search(span{1, 10}, onCPU, &host{}); err != nil || got != "numbers 1 to 10\nlongest 9 with 19 steps\ntotal 67 steps\n" {
		t.Errorf("with another's checkpoint: %q, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := search(span{27, 1}, onCPU, &host{}); err != nil || !strings.Contains(got, "longest 27 with 111 steps") {
		t.Errorf("with a damaged checkpoint: %q, %v", got, err)
	}
}

func TestADeviceThatComputesWrongly(t *testing.T) {
	t.Chdir(t.TempDir())
	wrong := func(_ uint64, steps []uint64) error { steps[2] = tooMany; return nil }
	if _, err := search(span{5, 10}, wrong, &host{}); err == nil || !strings.HasPrefix(err.Error(), "7 grows") {
		t.Errorf("got %v", err)
	}
	broken := func(uint64, []uint64) error { return errStopped }
	if _, err := search(span{5, 10}, broken, &host{}); !errors.Is(err, errStopped) {
		t.Errorf("got %v", err)
	}
}

func TestRange(t *testing.T) {
	for text, want := range map[string]string{
		"1 10\n": "{1 10}", "8589934592 1": "{8589934592 1}",
		"": "want the first", "x": "want the first", "1": "want the first", "0 1": "not all between", "1 0": "not all between", "8589934592 2": "not all between", "2 18446744073709551615": "not all between",
	} {
		r, err := parseRange(text)
		if got := fmt.Sprint(r, err); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestTheDeviceThatTheClientGave(t *testing.T) {
	init := appipc.DefaultInitData()
	if count, err := counter(init, []string{"--run"}); err != nil || count == nil {
		t.Errorf("without a device: %v", err)
	}
	if _, err := counter(init, []string{"--device", "x"}); err == nil {
		t.Error("--device x is taken")
	}
	init.GPUType = "fake"
	if _, err := counter(init, nil); err == nil || !strings.Contains(err.Error(), "OpenCL does not know") {
		t.Errorf("a device without OpenCL: %v", err)
	}
	real(t)
	init.GPUOpenCLDevIndex = 1000
	if _, err := counter(init, nil); err == nil || !strings.Contains(err.Error(), "no OpenCL device 1000") {
		t.Errorf("a device that is not there: %v", err)
	}
	if _, err := counter(appipc.DefaultInitData(), []string{"--device", "0"}); err != nil {
		t.Errorf("--device 0: %v", err)
	}
	init.GPUOpenCLDevIndex = 0
	if _, err := counter(init, []string{"--device", "7"}); err != nil {
		t.Errorf("the client's word counts: %v", err)
	}
}
