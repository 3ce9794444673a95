package match

import (
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// An Only restricts a plan class to some workunits. 0 means no limit.
//
// Source: BOINC sched/plan_class_spec.cpp, wu_is_infeasible_for_plan_class.
type Only struct {
	MinWUID  int64 `toml:"min_wu_id"`
	MaxWUID  int64 `toml:"max_wu_id"`
	MinBatch int64 `toml:"min_batch"`
	MaxBatch int64 `toml:"max_batch"`
}

func (o *Only) numbers() []keyed {
	return []keyed{
		{"min_wu_id", float64(o.MinWUID)},
		{"max_wu_id", float64(o.MaxWUID)},
		{"min_batch", float64(o.MinBatch)},
		{"max_batch", float64(o.MaxBatch)},
	}
}

// leavesOut returns the reason if a candidate is not for the class, or nil.
func (o *Only) leavesOut(c *store.Candidate) *Lack {
	if c.WorkunitID < o.MinWUID || o.MaxWUID > 0 && c.WorkunitID > o.MaxWUID || c.Batch < o.MinBatch || o.MaxBatch > 0 && c.Batch > o.MaxBatch {
		return &Lack{Code: protocol.RefusedOther}
	}
	return nil
}
