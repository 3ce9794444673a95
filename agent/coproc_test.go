package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// A task for a declared coprocessor is requested, gets its device by its arguments and
// init_data.xml, and is reported.
func TestATaskOnACoprocessor(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the recorded job is for x86_64-pc-linux-gnu")
	}
	const program = "#!/bin/sh\necho \"args: $*\" >&2\ngrep -E 'gpu_|ncpus' init_data.xml >&2\ntr a-z A-Z <in >out && echo 0 >boinc_finish_called\n"
	rec := func(name string) answer { return recorded(t, "debian-7.20.5/plain/"+name+".response.http") }
	reply := resigned(t, rec("002-scheduler"), program)
	reply.body = bytes.Replace(reply.body, []byte("</app_version>"), []byte("<coproc><type>fake</type><count>0.5</count></coproc><gpu_ram>1000000</gpu_ram></app_version>"), 1)
	done := rec("006-scheduler")
	done.body = bytes.Replace(done.body, []byte("</scheduler_reply>"), []byte("<no_rsc_apps>CPU</no_rsc_apps></scheduler_reply>"), 1)
	answers := withMaster(t, demoURL, reply, done)
	answers["plain_1.00_x86_64-pc-linux-gnu"] = []answer{{code: 200, body: []byte(program)}}
	answers["in_1"] = []answer{rec("003-download-in_1")}
	answers[upload] = []answer{rec("005-upload")}
	w := newWorld(t, demoURL, answers, func(db *state.DB, tx *state.Tx) {
		db.Projects.Put(tx, demoURL, state.Project{MasterURL: demoURL, Streams: map[string]state.Stream{"fake": {Estimates: state.Estimates{Results: 9, Ratio: 2}}}})
	})
	declared := "[[coproc]]\ntype = \"fake\"\ncount = 2\npeak_flops = 1e11\ndevice_nums = [3, 5]\n"
	w.configure(t, declared)
	path := settings.AccountPath(w.dir, demoURL)
	account, err := os.ReadFile(path)
	if err == nil {
		own := "[[exclude_gpu]]\ntype = \"fake\"\ndevice_nums = [3]\n[[app]]\nname = \"plain\"\ngpu_usage = 0.25\n"
		err = os.WriteFile(path, append(account, own...), 0o600)
	}
	must(t, err)
	w.start(t)
	defer w.stop()
	testwait.Until(t, "the task to be reported", func() bool {
		return len(w.after(t, 0).Tasks) == 0 && len(w.reports()) > 0
	})
	if s := w.after(t, 0); len(s.Coprocs) != 1 || s.Coprocs[0] != "2 fakes" {
		t.Errorf("status: %q", s.Coprocs)
	}
	asked := w.request(t, 0).Coprocs
	if len(asked) != 1 || asked[0].Kind != "fake" || asked[0].Count != 2 || asked[0].ReqSeconds != 1 || asked[0].PeakFlops != 1e11 {
		t.Errorf("asked with %+v", asked)
	}
	res := w.reports()[0].Results[0]
	for _, want := range []string{"args: --device 5\n", "<gpu_type>fake</gpu_type>", "<gpu_device_num>5</gpu_device_num>", "<gpu_usage>0.250000</gpu_usage>"} {
		if !strings.Contains(res.StderrOut, want) {
			t.Errorf("no %s in what the task saw:\n%s", want, res.StderrOut)
		}
	}
	d, err := w.a.Decision(t.Context())
	must(t, err)
	p := d.Snapshot.Projects[0]
	if of := p.Others["fake"]; !p.NoCPUApps || of.JobTime == 0 || of.Latency == 0 || of.Devices != 0.5 || of.Estimates.Results != 1 || p.JobTime != 0 {
		// of its version one result, whatever others of the project took
		t.Errorf("learnt of its work for the device: %+v, for the CPUs %v", of, p.JobTime)
	}
	if len(d.Snapshot.Coprocs) != 1 || resource.Size(1, []resource.Pool{d.Snapshot.Coprocs[0].Pool}) <= 1 {
		t.Errorf("the computer has %+v", d.Snapshot.Coprocs)
	}
}

// A device that a driver offers is described to projects in full, and its task is directed to it by
// OpenCL. When the driver no longer offers it, the task waits and gives the reason.
func TestATaskOnAFoundDevice(t *testing.T) {
	t.Parallel()
	const program = "#!/bin/sh\ngrep gpu_ init_data.xml >&2\nsleep 1000\n"
	rec := func(name string) answer { return recorded(t, "debian-7.20.5/plain/"+name+".response.http") }
	reply := resigned(t, rec("002-scheduler"), program)
	reply.body = bytes.Replace(reply.body, []byte("</app_version>"), []byte("<coproc><type>ATI</type><count>1</count></coproc><gpu_ram>1e9</gpu_ram></app_version>"), 1)
	answers := withMaster(t, demoURL, reply)
	answers["plain_1.00_x86_64-pc-linux-gnu"] = []answer{{code: 200, body: []byte(program)}}
	answers["in_1"] = []answer{rec("003-download-in_1")}
	w := newWorld(t, demoURL, answers, nil)
	card := gpus.OpenCLDevice{Kind: "ATI", Index: 1, Facts: protocol.OpenCL{Name: "gfx1032", GlobalMem: 8e9, ComputeUnits: 14, ClockMHz: 2491, DeviceVersion: "OpenCL 2.1"}}
	var found gpus.Report
	found.OpenCL.Platforms = []gpus.Platform{
		{Version: "OpenCL 2.1 AMD", Devices: []gpus.OpenCLDevice{card}},
		{Vendor: "The pocl project", Version: "OpenCL 3.0 PoCL", Devices: []gpus.OpenCLDevice{{CPU: true, Facts: protocol.OpenCL{Name: "pthread", ComputeUnits: 2}}}},
	}
	var now atomic.Pointer[gpus.Report]
	now.Store(&found)
	w.detect = func(context.Context) gpus.Report { return *now.Load() }
	w.start(t)
	defer func() { w.stop() }()
	await := func(what string) {
		t.Helper()
		testwait.Try(t, t.Context(), what, func() error {
			if s := w.after(t, 0); len(s.Tasks) != 1 || !strings.Contains(s.Tasks[0].Why, what) {
				return fmt.Errorf("got %+v", s.Tasks)
			}
			return nil
		})
	}
	await("Running")
	if s := w.after(t, 0); len(s.Coprocs) != 1 || s.Coprocs[0] != "1 AMD GPU (gfx1032)" {
		t.Errorf("status: %q", s.Coprocs)
	}
	asked := w.request(t, 0).Coprocs
	if len(asked) != 1 || asked[0].Kind != "ATI" || asked[0].Name != "gfx1032" || asked[0].Memory != 8e9 || asked[0].OpenCL == nil || asked[0].OpenCL.PlatformVersion != "OpenCL 2.1 AMD" || math.Abs(asked[0].PeakFlops/(14*80*2491e6)-1) > 1e-6 {
		t.Errorf("asked with %+v", asked)
	}
	if cpus := w.request(t, 0).Host.OpenCLCPUs; len(cpus) != 1 || cpus[0].Platform != "The pocl project" || cpus[0].Name != "pthread" || cpus[0].PlatformVersion != "OpenCL 3.0 PoCL" {
		t.Errorf("its processors by OpenCL: %+v", cpus)
	}
	var init []byte
	var err error
	testwait.Until(t, "init_data.xml", func() bool { // that it runs is decided before its slot is filled
		init, err = os.ReadFile(filepath.Join(w.dir, "slots", "0", "init_data.xml"))
		return err == nil
	})
	if !bytes.Contains(init, []byte("<gpu_opencl_dev_index>1</gpu_opencl_dev_index>")) || !bytes.Contains(init, []byte("<gpu_device_num>0</gpu_device_num>")) {
		t.Errorf("the task is told\n%s", init)
	}

	if !bytes.Contains(init, []byte("<coproc_ati>")) {
		t.Errorf("the task is not told of the computer's devices:\n%s", init)
	}
	if v, err := w.a.Tools(t.Context()); err != nil || len(v.Coprocs) != 1 || v.Coprocs[0].Name != "gfx1032" || v.Host.Coprocs != 1 {
		t.Errorf("BOINC's tools see %+v, %v", v.Coprocs, err)
	}

	// Once it does not answer, which changes nothing.
	silent := gpus.Report{OpenCL: gpus.Answer{Failure: "The driver hangs."}}
	now.Store(&silent)
	if got := w.a.FindDevices(t.Context()); got.OpenCL.Failure == "" {
		t.Errorf("got %+v", got)
	}
	if s := w.after(t, 0); len(s.Coprocs) != 1 || !strings.Contains(s.Tasks[0].Why, "Running") {
		t.Errorf("a driver that hangs took the device away: %q, %+v", s.Coprocs, s.Tasks)
	}
	now.Store(new(gpus.Report))
	w.a.FindDevices(t.Context())
	await("It needs 1 AMD GPU with 953.7 MB. This computer had 1 AMD GPU (gfx1032) until ")
	now.Store(&found)
	w.a.FindDevices(t.Context())
	await("Running")
}

// Without the device, a task that needs it waits and gives the reason.
func TestATaskWhoseDeviceIsGone(t *testing.T) {
	t.Parallel()
	rec := func(name string) answer { return recorded(t, "debian-7.20.5/plain/"+name+".response.http") }
	reply := resigned(t, rec("002-scheduler"), plainProgram)
	reply.body = bytes.Replace(reply.body, []byte("</app_version>"), []byte("<coproc><type>NVIDIA</type><count>1</count></coproc></app_version>"), 1)
	answers := withMaster(t, demoURL, reply)
	answers["plain_1.00_x86_64-pc-linux-gnu"] = []answer{{code: 200, body: []byte(plainProgram)}}
	answers["in_1"] = []answer{rec("003-download-in_1")}
	w := newWorld(t, demoURL, answers, nil)
	w.start(t)
	defer w.stop()
	testwait.Try(t, t.Context(), "the reason", func() error {
		s := w.after(t, 0)
		if len(s.Tasks) != 1 || !strings.Contains(s.Tasks[0].Why, "It needs 1 NVIDIA GPU. This computer has none that tasks may use.") {
			return fmt.Errorf("got %+v", s.Tasks)
		}
		return nil
	})
}

// Settings about coprocessors take effect when they are read again, as BOINC's tools make the agent
// do. A declared device is removed, a found one stays, and no failure of a driver is reported.
func TestSettingsOfCoprocessorsAreReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), nil)
	write := func(text string) {
		t.Helper()
		w.configure(t, text)
	}
	card := gpus.OpenCLDevice{Kind: "ATI", Facts: protocol.OpenCL{Name: "gfx1032", GlobalMem: 8e9, DeviceVersion: "OpenCL 2.1"}}
	w.detect = func(context.Context) gpus.Report {
		var r gpus.Report
		r.OpenCL.Platforms = []gpus.Platform{{Devices: []gpus.OpenCLDevice{card}}}
		return r
	}
	write("[[coproc]]\ntype = \"fake\"\ncount = 2\n")
	w.start(t)
	defer func() { w.stop() }()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"1 AMD GPU (gfx1032)"}},
		{"no_gpus = true\n[[coproc]]\ntype = \"other\"\ncount = 1\n", []string{"1 other"}},
		{"no_gpus = false\n", []string{"1 AMD GPU (gfx1032)"}},
	} {
		write(c.text)
		must(t, w.a.ReloadSettings(t.Context()))
		testwait.Try(t, t.Context(), fmt.Sprintf("%v after %q", c.want, c.text), func() error {
			if got := w.after(t, 0).Coprocs; !slices.Equal(got, c.want) {
				return fmt.Errorf("got %v", got)
			}
			return nil
		})
		d, err := w.a.Decision(t.Context())
		must(t, err)
		for _, a := range d.Snapshot.Absent {
			if strings.Contains(a.Why, "no longer") {
				t.Errorf("%q: %s", c.text, a.Why)
			}
		}
	}
}
