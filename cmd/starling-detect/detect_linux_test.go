package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/internal/testprogram"
)

// build returns the program as it is released.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := testprogram.Build(t.Context(), dir, nil, "cmd/starling-detect"); err != nil {
		t.Skipf("cannot build: %v", err)
	}
	return filepath.Join(dir, "starling-detect")
}

// drivers compiles what plays NVIDIA's libraries into a folder.
func drivers(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for source, library := range map[string]string{"cuda.c": "libcuda.so.1", "nvml.c": "libnvidia-ml.so.1"} {
		cmd := exec.Command("cc", "-shared", "-fPIC", "-o", filepath.Join(dir, library), filepath.Join("testdata", source))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("cannot compile: %v\n%s", err, out)
		}
	}
	return dir
}

// ask runs the program and returns its standard output and standard error.
func ask(t *testing.T, program, library string, env ...string) (string, string) {
	t.Helper()
	cmd := exec.Command(program, library)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &errs, append(os.Environ(), env...)
	_ = cmd.Run() // some crash
	return out.String(), errs.String()
}

func TestNVIDIADevices(t *testing.T) {
	program, dir := build(t), drivers(t)
	card := gpus.NVIDIADevice{Name: "Device 40", Memory: 40 << 30, Major: 8, Minor: 6, ClockKHz: 1777000, Multiprocessors: 28, PCI: "0001:28:00.0"}
	next := card
	next.Name, next.Memory, next.PCI = "Device 41", 41<<30, "0001:29:00.0"
	for fails, want := range map[string]gpus.Reply{
		"":                {Library: "libcuda.so.1", NVIDIA: &gpus.Driver{Version: "550.90.07", CUDA: 12040, Devices: []gpus.NVIDIADevice{card, next}}},
		"cuInit":          {Library: "libcuda.so.1", Error: "cuInit: no device (100)"},
		"cuDeviceGetName": {Library: "libcuda.so.1", Error: "cuDeviceGetName: unknown error; the kernel's log may tell more (999)"},
	} {
		out, errs := ask(t, program, gpus.NVIDIA, "LD_LIBRARY_PATH="+dir, "FAIL="+fails)
		var got gpus.Reply
		if err := json.Unmarshal([]byte(out), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, %v; want %+v", fails, out, err, want)
		}
		if !strings.Contains(errs, "this is the driver") {
			t.Errorf("what the driver prints is not on standard error: %q", errs)
		}
	}
	if out, _ := ask(t, program, gpus.NVIDIA, "LD_LIBRARY_PATH="+dir, "FAIL=crash"); strings.TrimSpace(out) != "" {
		t.Errorf("after a crash: %q", out)
	}
}

func TestALibraryThatIsMissingOrIsNone(t *testing.T) {
	program, dir := build(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libOpenCL.so.1"), []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := ask(t, program, gpus.OpenCL, "LD_LIBRARY_PATH="+dir)
	var got gpus.Reply
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Library == "" && (!got.Missing || !strings.Contains(got.Error, "libOpenCL.so.1")) {
		t.Errorf("got %s, %v", out, err)
	}
	if out, errs := ask(t, program, "vulkan"); out != "" || !strings.Contains(errs, "usage: starling-detect opencl | nvidia | nvidia-sensors") {
		t.Errorf("got %q, %q", out, errs)
	}
}

// The agent and the server stay static programs: nothing that loads drivers is in them.
func TestNobodyElseLoadsDrivers(t *testing.T) {
	for _, program := range []string{"starling", "starling-server", "starling-wrap"} {
		out, err := exec.Command("go", "list", "-deps", "github.com/starling-grid/starling/cmd/"+program).Output()
		if err != nil {
			t.Skipf("cannot list: %v", err)
		}
		if strings.Contains(string(out), "purego") {
			t.Errorf("%s loads shared libraries, so it needs the C library, and its sandbox cannot restrict all its threads", program)
		}
	}
	if out, err := exec.Command("go", "list", "-deps", ".").Output(); err != nil || !strings.Contains(string(out), "purego") {
		t.Errorf("the test looks for the wrong name: %v", err)
	}
}
