package boincconfig

import (
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// ignoring are the options that keep all tasks off a GPU, by the kind that they are about.
// The first of a kind is the one that is written.
var ignoring = []struct{ element, kind string }{
	{"ignore_nvidia_dev", "NVIDIA"},
	{"ignore_cuda_dev", "NVIDIA"},
	{"ignore_ati_dev", "ATI"},
	{"ignore_intel_dev", "intel_gpu"},
	{"ignore_apple_dev", "apple_gpu"},
}

// devices are the options about coprocessors.
type devices struct {
	declared []settings.Coproc
	ignored  []settings.IgnoreGPU
}

// scan reads an option, if it is about coprocessors.
func (d *devices) scan(s *bxml.Scanner, name string) bool {
	if name == "coproc" {
		if c := scanCoproc(s); c.Type != "CPU" {
			d.declared = append(d.declared, c)
		}
		return true
	}
	for _, x := range ignoring {
		if x.element != name {
			continue
		}
		n := int64(-1)
		if s.Int(&n); n < 0 {
			return true // no device has such a number
		}
		i := slices.IndexFunc(d.ignored, func(g settings.IgnoreGPU) bool { return g.Type == x.kind })
		if i < 0 {
			i = len(d.ignored)
			d.ignored = append(d.ignored, settings.IgnoreGPU{Type: x.kind})
		}
		d.ignored[i].Devices = append(d.ignored[i].Devices, int(n))
		return true
	}
	return false
}

// changes removes devices that the options do not list. Devices that OpenCL finds cannot be
// declared in BOINC's file, and stay.
func (d *devices) changes(c *Config) {
	c.change("coproc", func(o *settings.Settings) {
		found := slices.DeleteFunc(slices.Clone(o.Coprocs), func(x settings.Coproc) bool { return x.OpenCL == "" })
		o.Coprocs = append(found, d.declared...)
	})
	c.change("ignore_gpu", func(o *settings.Settings) { o.IgnoreGPUs = d.ignored })
}

// scanCoproc reads a <coproc>. Devices without listed numbers are numbered in their order.
func scanCoproc(s *bxml.Scanner) (c settings.Coproc) {
	var count int64
	var numbers string
	s.Fields(func(x bxml.Codec) {
		x.Text("type", &c.Type)
		x.Int("count", &count)
		x.Float("peak_flops", &c.PeakFlops)
		x.Text("device_nums", &numbers)
	})
	listed := strings.Fields(numbers)
	c.Count = int(count)
	own := false
	for i := range min(c.Count, maxDevices) {
		n := i
		if i < len(listed) {
			n, _ = strconv.Atoi(listed[i]) // no number is 0, as BOINC reads it
		}
		c.Devices = append(c.Devices, n)
		own = own || n != i
	}
	if !own {
		c.Devices = nil
	}
	return c
}

// exclude reads an <exclude_gpu>.
func (c *Config) exclude(s *bxml.Scanner) {
	var x settings.ExcludeGPU
	var u string
	number := int64(-1)
	s.Fields(func(e bxml.Codec) {
		e.Text("url", &u)
		e.Int("device_num", &number)
		e.Text("type", &x.Type)
		e.Text("app", &x.App)
	})
	if number >= 0 {
		x.Devices = []int{int(number)}
	}
	u, err := protocol.CanonicalMasterURL(u)
	if err != nil {
		c.Unused = append(c.Unused, "exclude_gpu")
		return
	}
	if c.ExcludeGPUs == nil {
		c.ExcludeGPUs = make(map[string][]settings.ExcludeGPU)
	}
	c.ExcludeGPUs[u] = append(c.ExcludeGPUs[u], x)
}
