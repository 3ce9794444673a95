package resource_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/resource"
)

const gpu = resource.NVIDIA

// on returns a task on count GPUs, which it is on already if any are named.
func on(count float64, devices ...int) resource.Usage {
	return resource.Usage{CPUs: 0.2, Coproc: &resource.Coproc{Kind: gpu, Count: count, On: devices}}
}

func pool(n int) []resource.Pool {
	p := resource.Pool{Kind: gpu, Weight: 50}
	for i := range n {
		p.Devices = append(p.Devices, resource.Device{Number: i, Memory: 1000})
	}
	return []resource.Pool{p}
}

// take gives each task its resources, or "-" if it lacks one.
func take(c *resource.Capacity, all ...resource.Usage) (got [][]int) {
	for _, u := range all {
		if u.Coproc != nil {
			c.Keep(u)
		}
	}
	for _, u := range all {
		if b, _ := c.Lacks(u, nil); b != resource.None {
			got = append(got, []int{-int(b)})
			continue
		}
		got = append(got, c.Take(u, nil))
	}
	return got
}

func TestDevices(t *testing.T) {
	no := []int{-int(resource.Devices)}
	none := []int{-int(resource.Missing)}
	large := on(1)
	large.Coproc.Memory = 1001
	half := on(0.5)
	half.Coproc.Memory = 600
	barred := on(1)
	barred.Coproc.Except = []int{0, 1}
	other := resource.Usage{Coproc: &resource.Coproc{Kind: resource.ATI}}
	for _, tt := range []struct {
		name string
		n    int
		all  []resource.Usage
		want [][]int
	}{
		{"each gets its own", 2, []resource.Usage{on(1), on(1), on(1)}, [][]int{{0}, {1}, no}},
		{"halves share one, and leave the other whole", 2, []resource.Usage{on(0.5), on(0.5), on(1)}, [][]int{{0}, {0}, {1}}},
		{"two at once", 2, []resource.Usage{on(2), on(0.1)}, [][]int{{0, 1}, no}},
		{"more than there are", 2, []resource.Usage{on(3)}, [][]int{none}},
		{"a task stays where it is", 2, []resource.Usage{on(1, 1), on(1)}, [][]int{{1}, {0}}},
		{"nobody takes a device from one that runs, if there is another", 2, []resource.Usage{on(1), on(1, 0)}, [][]int{{1}, {0}}},
		{"one that goes first takes it all the same", 1, []resource.Usage{on(1), on(1, 0)}, [][]int{{0}, no}},
		{"too little memory on any", 2, []resource.Usage{large}, [][]int{none}},
		{"too little memory left", 1, []resource.Usage{half, half}, [][]int{{0}, no}},
		{"devices it may not use", 2, []resource.Usage{barred}, [][]int{none}},
		{"a kind that is not there", 2, []resource.Usage{other}, [][]int{none}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := take(resource.NewCapacity(4, 0, nil, pool(tt.n)), tt.all...)
			if !slices.EqualFunc(got, tt.want, slices.Equal) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// Parts of CPUs that feed coprocessors keep a CPU from other tasks once they are a whole one.
func TestFeeding(t *testing.T) {
	for _, tt := range []struct {
		cpus float64
		gpus int
		want float64
	}{{0.2, 3, 4}, {0.5, 2, 3}, {0.4, 4, 3}, {1, 4, 0}} {
		c := resource.NewCapacity(4, 0, nil, pool(4))
		for range tt.gpus {
			u := on(1)
			u.CPUs = tt.cpus
			if b, _ := c.Lacks(u, nil); b != resource.None {
				t.Errorf("%+v: lacks %d", tt, b)
			}
			c.Take(u, nil)
		}
		if got := c.FreeCPUs(); got != tt.want {
			t.Errorf("%v CPUs for each of %d: %v left, want %v", tt.cpus, tt.gpus, got, tt.want)
		}
	}
}

func TestUsageInWords(t *testing.T) {
	for want, u := range map[string]resource.Usage{
		"1 CPU":                                  {},
		"0.2 CPUs + 0.5 NVIDIA GPUs (device 1)":  on(0.5, 1),
		"0.2 CPUs + 2 NVIDIA GPUs (device 0, 3)": on(2, 0, 3),
	} {
		if got := u.Text().String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSpeed(t *testing.T) {
	if got := on(0.5).Speed(4, pool(2)); got != 25 {
		t.Errorf("half a GPU of weight 50: %v", got)
	}
	if got := (resource.Usage{CPUs: 8}).Speed(4, pool(2)); got != 4 {
		t.Errorf("8 of 4 CPUs: %v", got)
	}
	if got := resource.Size(4, pool(2)); got != 104 {
		t.Errorf("4 CPUs and two GPUs: %v", got)
	}
}

// Whatever tasks there are and in whatever order, no device is promised more than once, no
// memory twice, and what lacks something once lacks it later too.
func TestNothingIsPromisedTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus, memory := rapid.IntRange(1, 4).Draw(t, "cpus"), int64(2000)
		c := resource.NewCapacity(cpus, memory, []int{2}, pool(rapid.IntRange(0, 3).Draw(t, "gpus")))
		used, room := make(map[int]float64), make(map[int]int64)
		lacked := make(map[int]resource.Usage)
		computing, feeding, under := 0.0, 0.0, 0
		for n := range rapid.IntRange(1, 12).Draw(t, "tasks") {
			u := resource.Usage{CPUs: rapid.SampledFrom([]float64{0, 0.3, 1, 2}).Draw(t, "cpus"), Memory: rapid.Int64Range(0, 900).Draw(t, "memory")}
			var limits []int
			if rapid.Bool().Draw(t, "limited") {
				limits = []int{0}
			}
			if rapid.Bool().Draw(t, "on a GPU") {
				u.Coproc = &resource.Coproc{Kind: gpu, Count: rapid.SampledFrom([]float64{0, 0.25, 0.5, 1, 2}).Draw(t, "count"), Memory: rapid.Int64Range(0, 700).Draw(t, "of it")}
			}
			if b, _ := c.Lacks(u, limits); b != resource.None {
				if limits == nil {
					lacked[n] = u
				}
				continue
			}
			for _, d := range c.Take(u, limits) {
				used[d] += min(u.Devices(), 1)
				room[d] += u.Coproc.Memory
			}
			memory -= u.Memory
			under += len(limits)
			if u.Coproc == nil {
				computing += u.Speed(cpus, nil)
			} else {
				feeding += min(u.CPUs, float64(cpus))
			}
			for n, u := range lacked {
				if b, _ := c.Lacks(u, nil); b == resource.None {
					t.Fatalf("task %d lacks nothing any more", n)
				}
			}
		}
		for d, part := range used {
			if part > 1+1e-9 || room[d] > 1000 {
				t.Fatalf("device %d: %v of it and %d bytes", d, part, room[d])
			}
		}
		if memory < 0 || under > 2 || feeding > float64(cpus)+1e-9 || computing+feeding >= float64(cpus)+1 {
			t.Fatalf("%d bytes left, %d under the limit, %v and %v of %d CPUs", memory, under, computing, feeding, cpus)
		}
	})
}
