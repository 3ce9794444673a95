package jobsched_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// gpu makes a job that uses count GPUs and cpus CPUs.
func gpu(count, cpus float64, j jobsched.Job) jobsched.Job {
	j.Usage = resource.Usage{CPUs: cpus, Coproc: &resource.Coproc{Kind: resource.NVIDIA, Count: count}}
	if j.Deadline.IsZero() {
		j.Deadline = far
	}
	return j
}

// on makes a job run on devices.
func on(j jobsched.Job, devices ...int) jobsched.Job {
	j.Coproc.On, j.Running, j.Started = devices, true, true
	return j
}

func gpus(n int) []jobsched.Pool {
	p := jobsched.Pool{Pool: resource.Pool{Kind: resource.NVIDIA, Weight: 20}}
	for i := range n {
		p.Devices = append(p.Devices, resource.Device{Number: i})
	}
	return []jobsched.Pool{p}
}

func TestChooseOnCoprocessors(t *testing.T) {
	run, urgent, no, cpu := reason.RunDebt, reason.RunDeadline, reason.NoGPU, reason.NoCPU
	hour := time.Hour
	for _, tt := range []struct {
		name     string
		gpus     int
		projects []jobsched.Project
		jobs     []jobsched.Job
		want     []reason.Code
		on       [][]int
	}{
		{
			"each device has a job, and the CPUs theirs beside", 2,
			[]jobsched.Project{{}},
			[]jobsched.Job{gpu(1, 0.1, jobsched.Job{ID: "a"}), gpu(1, 0.1, jobsched.Job{ID: "b"}), gpu(1, 0.1, jobsched.Job{ID: "c"}), {ID: "d", Deadline: far}, {ID: "e", Deadline: far}, {ID: "f", Deadline: far}},
			[]reason.Code{run, run, no, run, run, cpu},
			[][]int{{0}, {1}, nil, nil, nil, nil},
		},
		{
			"a GPU goes before the CPUs, whoever is owed", 1,
			[]jobsched.Project{{Debt: 9e6}, {Debt: -9e6}},
			[]jobsched.Job{{ID: "a", Deadline: far}, {ID: "b", Deadline: far}, gpu(1, 1, jobsched.Job{ID: "c", Project: 1})},
			[]reason.Code{run, cpu, run},
			[][]int{nil, nil, {0}},
		},
		{
			"of several, the project that is owed most", 1,
			[]jobsched.Project{{}, {Debt: 9e6}},
			[]jobsched.Job{gpu(1, 0, jobsched.Job{ID: "a"}), gpu(1, 0, jobsched.Job{ID: "b", Project: 1})},
			[]reason.Code{no, run},
			[][]int{nil, {0}},
		},
		{
			"a deadline on a GPU is none on the CPUs", 1,
			[]jobsched.Project{{Debt: 9e6}, {}},
			[]jobsched.Job{
				gpu(1, 0, jobsched.Job{ID: "a"}), gpu(1, 0, jobsched.Job{ID: "b", Project: 1, Remaining: 2 * hour, Deadline: late(3)}),
				{ID: "c", Project: 1, Remaining: 2 * hour, Deadline: late(4)},
				{ID: "d", Remaining: hour, Deadline: far},
				{ID: "e", Remaining: hour, Deadline: far},
			},
			[]reason.Code{no, urgent, cpu, run, run},
			[][]int{nil, {0}, nil, nil, nil},
		},
		{
			"a job stays on its device", 2,
			[]jobsched.Project{{}},
			[]jobsched.Job{gpu(1, 0, jobsched.Job{ID: "a", Remaining: hour, Deadline: late(1)}), on(gpu(1, 0, jobsched.Job{ID: "b", Remaining: hour}), 0)},
			[]reason.Code{urgent, run},
			[][]int{{1}, {0}},
		},
		{
			"two devices at once wait until both are free", 2,
			[]jobsched.Project{{Debt: 9e6}, {}},
			[]jobsched.Job{gpu(2, 0, jobsched.Job{ID: "a", Remaining: hour}), on(gpu(1, 0, jobsched.Job{ID: "b", Project: 1, Remaining: hour}), 1)},
			[]reason.Code{no, run},
			[][]int{nil, {1}},
		},
		{
			"a device that is gone", 1,
			[]jobsched.Project{{}},
			[]jobsched.Job{gpu(2, 0, jobsched.Job{ID: "a"}), gpu(1, 0, jobsched.Job{ID: "b"})},
			[]reason.Code{reason.GPUMissing, run},
			[][]int{nil, {0}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := jobsched.Choose(jobsched.Snapshot{Now: now, CPUs: 2, Slice: slice, Coprocs: gpus(tt.gpus), Projects: tt.projects, Jobs: tt.jobs})
			for i, w := range tt.want {
				if got[i].Code != w || !got[i].Text.Is() || !reflect.DeepEqual(got[i].On, tt.on[i]) {
					t.Errorf("job %s: got %s %q on %v, want %s on %v", tt.jobs[i].ID, got[i].Code, got[i].Text, got[i].On, w, tt.on[i])
				}
			}
		})
	}
}

func TestCoprocessorsThatMayNotBeUsed(t *testing.T) {
	pools := gpus(1)
	pools[0].Compute.Why, pools[0].Compute.Until = words.Plain("You are using the computer."), late(1)
	got, again := jobsched.Choose(jobsched.Snapshot{
		Now: now, CPUs: 2, Slice: slice, Coprocs: pools, Projects: []jobsched.Project{{}},
		Jobs: []jobsched.Job{gpu(1, 0, jobsched.Job{ID: "a"}), {ID: "b", Deadline: far}},
	})
	if got[0].Code != reason.GPUSuspended || got[0].Text.String() != pools[0].Compute.Why.String() || !got[1].Run() || !again.Equal(late(1)) {
		t.Errorf("got %+v, again at %v", got, again)
	}
}

// A volunteer's own exclude_gpu is named, with the number of GPUs it applies to. Too little memory
// is not mistaken for it.
func TestExcludedGPUsAreNamed(t *testing.T) {
	for _, tt := range []struct {
		except     []int
		memory     int64
		text, cure string
	}{
		{[]int{0, 0, 1}, 0, "Its project's account file keeps it off every one here (exclude_gpu).", "exclude_gpu"},
		{[]int{0}, 1 << 50, "Its project's account file keeps it off 1 of the 2 here (exclude_gpu), and the rest are too few or too small.", "exclude_gpu"},
		{nil, 1 << 50, "Of the 2 here, too few have enough memory.", "starling task abort a"},
	} {
		j := gpu(1, 0, jobsched.Job{ID: "a"})
		j.Coproc.Except, j.Coproc.Memory = tt.except, tt.memory
		s := jobsched.Snapshot{Now: now, CPUs: 2, Slice: slice, Projects: []jobsched.Project{{}}, Jobs: []jobsched.Job{j}, Coprocs: gpus(2)}
		for i := range s.Coprocs[0].Devices {
			s.Coprocs[0].Devices[i].Memory = 4 << 30
		}
		got, _ := jobsched.Choose(s)
		if got[0].Code != reason.GPUMissing || !strings.HasSuffix(got[0].Text.String(), tt.text) || !strings.Contains(got[0].Cure.String(), tt.cure) {
			t.Errorf("except %v: got %+v, want %q", tt.except, got[0], tt.text)
		}
	}
}

// If no device of a kind was found, the reason includes the cause.
func TestWhyThereIsNoDevice(t *testing.T) {
	absent := []resource.Absent{{Kind: resource.ATI, Why: "Not this."}, {Kind: resource.NVIDIA, Why: "Its driver is missing."}}
	for devices, want := range map[int]string{
		0: "It needs 1 NVIDIA GPU. Its driver is missing.",
		1: "It needs 2 NVIDIA GPUs. This computer has 1.",
	} {
		s := jobsched.Snapshot{Now: now, CPUs: 2, Slice: slice, Projects: []jobsched.Project{{}}, Absent: absent, Jobs: []jobsched.Job{gpu(float64(1+devices), 0, jobsched.Job{ID: "a"})}}
		if devices > 0 {
			s.Coprocs = gpus(devices)
		}
		if got, _ := jobsched.Choose(s); got[0].Code != reason.GPUMissing || got[0].Text.String() != want {
			t.Errorf("%d devices: got %+v, want %q", devices, got[0], want)
		}
	}
}

// A job of half a device takes half of its time. A job of two devices starts when both are free.
func TestLaxityOfDevices(t *testing.T) {
	two := jobsched.Processors{Kind: resource.NVIDIA, Now: now, Count: 2}
	job := func(count float64, h int) jobsched.Job {
		return gpu(count, 0, jobsched.Job{Remaining: time.Duration(h) * time.Hour, Deadline: now.Add(100 * time.Hour)})
	}
	for _, tt := range []struct {
		name string
		jobs []jobsched.Job
		want int // hours until the last is finished
	}{
		{"halves", []jobsched.Job{job(0.5, 4), job(0.5, 4), job(0.5, 4), job(0.5, 4)}, 4},
		{"pairs", []jobsched.Job{job(1, 3), job(2, 4), job(1, 5)}, 12},
	} {
		index := []int{0, 1, 2, 3}[:len(tt.jobs)]
		last := tt.jobs[len(tt.jobs)-1]
		got := two.Laxities(tt.jobs, index)[len(tt.jobs)-1].Slack
		if want := time.Duration(100-tt.want)*time.Hour - jobsched.Margin(last.Remaining); got != want {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
	cpus := jobsched.Processors{Kind: resource.CPU, Now: now, Count: 1}
	if busy := cpus.BusyTime([]jobsched.Job{job(1, 99), job(1, 99)}); busy != 0 {
		t.Errorf("jobs on GPUs keep the CPU busy for %v", busy)
	}
	if n := cpus.Fits([]jobsched.Job{job(2, 90)}, jobsched.Job{Remaining: 10 * time.Hour, Deadline: now.Add(40 * time.Hour)}, 9, 0); n != 3 {
		t.Errorf("beside a job on GPUs fit %d jobs for the CPU, want 3", n)
	}
}
