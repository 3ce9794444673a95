package boincconfig

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol/bxml"
)

// writeCoprocs writes the kinds that are declared with a number of devices. BOINC cannot count the
// devices that OpenCL finds.
func writeCoprocs(w *bxml.Writer, all []settings.Coproc) {
	for _, c := range all {
		if c.Count == 0 {
			continue
		}
		w.Open("coproc")
		w.Text("type", c.Type)
		w.Int("count", int64(c.Count))
		w.Float("peak_flops", c.PeakFlops)
		w.TextIf("device_nums", strings.Trim(fmt.Sprint(c.Devices), "[]"))
		w.Close("coproc")
	}
}

// maxDevices is the number of devices of a kind that BOINC's client can distinguish.
const maxDevices = 64

// writeIgnored writes the devices that no task may use. BOINC needs the number of each, so for all
// devices of a kind it writes every number that BOINC can distinguish.
func writeIgnored(w *bxml.Writer, all []settings.IgnoreGPU) {
	seen := make(map[string]bool)
	for _, x := range ignoring {
		if seen[x.kind] {
			continue // another name of it
		}
		seen[x.kind] = true
		for _, g := range all {
			if g.Type != "" && g.Type != x.kind {
				continue
			}
			numbers := g.Devices
			if len(numbers) == 0 {
				for n := range maxDevices {
					numbers = append(numbers, n)
				}
			}
			for _, n := range numbers {
				w.Int(x.element, int64(n))
			}
		}
	}
}

// writeExcluded shows the coprocessors that a project's tasks may not use.
func writeExcluded(w *bxml.Writer, a settings.Account) {
	for _, x := range a.ExcludeGPUs {
		numbers := x.Devices
		if len(numbers) == 0 {
			numbers = []int{-1} // BOINC's word for all
		}
		for _, n := range numbers {
			w.Open("exclude_gpu")
			w.Text("url", a.MasterURL)
			w.Int("device_num", int64(n))
			w.TextIf("type", x.Type)
			w.TextIf("app", x.App)
			w.Close("exclude_gpu")
		}
	}
}
