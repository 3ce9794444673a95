package protocol_test

import (
	"bytes"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func TestEnergyTravels(t *testing.T) {
	for _, takes := range []bool{true, false} {
		reply := protocol.SchedulerReply{TakesEnergy: takes, ProjectName: "P"}
		if got, err := protocol.ParseSchedulerReply(reply.Encode()); err != nil || got.TakesEnergy != takes || got.ProjectName != "P" {
			t.Errorf("got %+v, %v; want %t", got, err, takes)
		}
	}
	for _, wh := range []float64{1.25, 0} {
		request := protocol.SchedulerRequest{Results: []protocol.ReportedResult{{Name: "r", EnergyWh: wh}}}
		body := request.Encode()
		if got, err := protocol.ParseSchedulerRequest(body); err != nil || len(got.Results) != 1 || got.Results[0].EnergyWh != wh {
			t.Errorf("got %+v, %v; want %v Wh", got, err, wh)
		}
		if bytes.Contains(body, []byte("energy")) != (wh > 0) {
			t.Errorf("a report of %v Wh is %s", wh, body)
		}
	}
	for text, want := range map[string]float64{"NaN": 0, "inf": 0, "1e999": 0, "": 0, "x": 0, "-1": -1, "1e300": 1e300} {
		got, err := protocol.ParseSchedulerRequest([]byte("<scheduler_request>\n<result>\n<starling_energy_wh>" + text + "</starling_energy_wh>\n<name>r</name>\n</result>\n</scheduler_request>"))
		if err != nil || len(got.Results) != 1 || got.Results[0].EnergyWh != want || got.Results[0].Name != "r" {
			t.Errorf("%q: got %+v, %v; want %v", text, got, err, want)
		}
	}
}
