package agent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// The energy of a task is reported only if it is known, the volunteer shares it and the last reply of the
// server takes it.
func TestEnergyIsShared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		share         bool
		before, since bool       // whether the server takes energy
		want          [2]float64 // in the first request and in the last one
	}{
		{"a server that takes it no more", true, true, false, [2]float64{1.25, 0}},
		{"a server that takes it now", true, false, true, [2]float64{0, 1.25}},
		{"not shared", false, true, true, [2]float64{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reply := protocol.SchedulerReply{RequestDelay: time.Minute, TakesEnergy: tt.since} // acknowledges nothing
			w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: reply.Encode()}), func(db *state.DB, tx *state.Tx) {
				for name, joules := range map[string]float64{"known": 4500, "unknown": 0} {
					r := state.Result{Project: demoURL, State: protocol.ClientUploaded, Slot: state.NoSlot, Energy: state.Energy{Joules: joules}}
					r.Name, r.WorkunitName = name, "w"
					r.Ready(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) // the bubble's clock starts then
					db.Results.Put(tx, state.Key(demoURL, name), r)
				}
				db.Units.Put(tx, state.Key(demoURL, "w"), state.Workunit{Project: demoURL, Workunit: protocol.Workunit{Name: "w", AppName: "app"}})
				db.Projects.Put(tx, demoURL, state.Project{MasterURL: demoURL, Name: "Demo", SchedulerURLs: []string{demoURL + "cgi"}, TakesEnergy: tt.before})
			})
			w.configure(t, fmt.Sprintf("share_energy = %t\nwatts_per_cpu = 9\n", tt.share))
			w.run(func(t *testing.T) {
				w.after(t, 2*time.Hour)
				all := w.reports()
				if len(all) < 2 {
					t.Fatalf("%d reports, want more", len(all))
				}
				for i, req := range []*protocol.SchedulerRequest{all[0], all[len(all)-1]} {
					got := make(map[string]float64)
					for _, r := range req.Results {
						got[r.Name] = r.EnergyWh
					}
					if len(got) != 2 || got["known"] != tt.want[i] || got["unknown"] != 0 {
						t.Errorf("request %d: got %v, want %v Wh of one", i, got, tt.want[i])
					}
				}
			})
		})
	}
}
