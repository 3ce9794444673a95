package hostinfo_test

import (
	"testing"

	"github.com/starling-grid/starling/agent/hostinfo"
)

func TestProbeKnowsThisComputer(t *testing.T) {
	h := hostinfo.Probe(t.TempDir())
	if h.NCPUs < 1 || h.MemBytes < 1<<26 || h.DiskTotal <= 0 || h.OSName == "" || h.DomainName == "" {
		t.Errorf("got %+v", h)
	}
	if p, _ := hostinfo.Platform(); p == "" {
		t.Error("no platform")
	}
}

func TestMeasure(t *testing.T) {
	if s := hostinfo.Measure(); s.Fpops < 1e6 || s.Fpops > 1e13 || s.Iops < 1e6 {
		t.Errorf("got %+v", s)
	}
}
