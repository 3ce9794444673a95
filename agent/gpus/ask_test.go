package gpus_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/internal/testprogram"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestMain lets the test binary be a starling-detect whose driver misbehaves.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "detect" {
		detect(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// detect answers for the library if the driver in question is another's.
func detect(how, library string) {
	line, _ := gpus.Reply{Library: "lib" + library, NVIDIA: &gpus.Driver{CUDA: 12040, Devices: []gpus.NVIDIADevice{{Name: "Card", Major: 8}}}}.Line()
	if library == gpus.NVIDIASensors {
		watch(how)
	}
	if library != gpus.NVIDIA {
		how = "answers"
	}
	switch how {
	case "answers":
		fmt.Println("driver 1.0 greets you")
		fmt.Printf("and ends no line {%s", line)
		fmt.Println(`{"starling":false}`)
	case "answers and crashes":
		fmt.Printf("%s", line)
		os.Exit(139)
	case "crashes":
		fmt.Fprintln(os.Stderr, "panic in the driver\nmore")
		os.Exit(3)
	case "is killed":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		time.Sleep(time.Hour)
	case "hangs":
		time.Sleep(time.Hour)
	case "leaves a process":
		cmd := exec.Command("sleep", "5")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			os.Exit(1)
		}
	case "prints rubbish":
		for range 1 << 16 {
			fmt.Println(`{"starling":true,"nvidia":{"devices":[{]}}` + strings.Repeat("\x00\xff", 20))
		}
	case "says nothing":
	}
	os.Exit(0)
}

func TestADriverThatMisbehaves(t *testing.T) {
	killed := "signal: killed"
	if runtime.GOOS == "windows" {
		killed = "exit status 1" // of a program that is ended
	}
	for how, want := range map[string]string{
		"answers":             "",
		"answers and crashes": "",
		"crashes":             "The driver failed when it was asked for its devices (exit status 3). It said: panic in the driver",
		"is killed":           "The driver failed when it was asked for its devices (" + killed + ").",
		"hangs":               "The driver did not answer within LIMIT.",
		"prints rubbish":      "The driver ended the program that asked it, without an answer.",
		"says nothing":        "The driver ended the program that asked it, without an answer.",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			d := gpus.Detector{Program: os.Args[0], Args: []string{"detect", how}, Limit: time.Minute}
			if how == "hangs" {
				d.Limit = 10 * time.Second // it starts before the program does
			}
			r := d.Detect(t.Context())
			for how == "hangs" && r.OpenCL.Failure != "" && d.Limit < testwait.Patience { // a busy computer
				d.Limit *= 2
				r = d.Detect(t.Context())
			}
			if want = strings.Replace(want, "LIMIT", d.Limit.String(), 1); r.NVIDIA.Failure != want {
				t.Errorf("got %q, want %q", r.NVIDIA.Failure, want)
			}
			if want == "" && (len(r.Devices()) != 1 || r.Devices()[0].Name != "Card") {
				t.Errorf("got %+v", r.Devices())
			}
			if r.OpenCL.Failure != "" || r.OpenCL.Library != "libopencl" {
				t.Errorf("the other library: %+v", r.OpenCL)
			}
		})
	}
}

// A process that a driver starts and leaves behind keeps the output open, but is not waited for.
func TestADriverThatLeavesAProcess(t *testing.T) {
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip(err)
	}
	r := gpus.Detector{Program: os.Args[0], Args: []string{"detect", "leaves a process"}}.Detect(t.Context())
	if !strings.Contains(r.NVIDIA.Failure, "I/O") {
		t.Errorf("got %q", r.NVIDIA.Failure)
	}
}

func TestAProgramThatIsMissing(t *testing.T) {
	r := gpus.Detector{Program: filepath.Join(t.TempDir(), "none")}.Detect(t.Context())
	if !strings.Contains(r.OpenCL.Failure, "no such file") && !strings.Contains(r.OpenCL.Failure, "not found") {
		t.Errorf("got %q", r.OpenCL.Failure)
	}
	if r = (gpus.Detector{}).Detect(t.Context()); !strings.Contains(r.OpenCL.Failure, " is not installed; put it in") {
		t.Errorf("got %q", r.OpenCL.Failure)
	}
}

// TestRealDrivers asks the drivers of this computer, by the program as it is released. On
// the machines of the tests there is PoCL, whose device is a CPU.
func TestRealDrivers(t *testing.T) {
	dir := t.TempDir()
	if err := testprogram.Build(t.Context(), dir, nil, "cmd/starling-detect"); err != nil {
		t.Skipf("cannot build: %v", err)
	}
	program := filepath.Join(dir, "starling-detect")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	r := gpus.Detector{Program: program}.Detect(t.Context())
	if r.OpenCL.Failure != "" || r.NVIDIA.Failure != "" {
		t.Errorf("got %+v", r)
	}
	if !r.NVIDIA.Missing && r.NVIDIA.Error == "" && r.NVIDIA.NVIDIA == nil {
		t.Errorf("NVIDIA's driver: %+v", r.NVIDIA)
	}
	if r.OpenCL.Missing {
		t.Skipf("no OpenCL here: %s", r.OpenCL.Error)
	}
	if len(r.OpenCL.Platforms) == 0 {
		t.Skipf("no OpenCL driver here: %s", r.OpenCL.Error)
	}
	if r.OpenCL.Library == "" || r.OpenCL.Error != "" {
		t.Errorf("%+v", r.OpenCL.Reply)
	}
	pocl := false
	for _, p := range r.OpenCL.Platforms {
		for _, d := range p.Devices {
			if !strings.HasPrefix(d.Facts.DeviceVersion, "OpenCL ") || d.Facts.GlobalMem < 1<<20 || d.Facts.ComputeUnits < 1 || d.Facts.SingleFP == 0 || d.Facts.Extensions == "" {
				t.Errorf("%+v", d)
			}
			if p.Name == "Portable Computing Language" && strings.HasPrefix(d.Facts.Name, "pthread") {
				pocl = d.CPU && d.Kind == "" && d.Facts.LittleEndian
			}
		}
	}
	if !pocl {
		text, _ := json.Marshal(r.OpenCL)
		t.Skipf("PoCL is not installed: %s", text)
	}
	for _, d := range r.Devices() {
		if strings.HasPrefix(d.Name, "pthread") {
			t.Errorf("a CPU counts as a GPU: %+v", d)
		}
	}
	if len(r.CPUs()) == 0 {
		t.Error("OpenCL's CPU is not told")
	}
}
