package match

import (
	"cmp"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A Lack is the reason why a host cannot have a result or cannot run an app version. The fields are
// the ones of protocol.Refusal.
type Lack struct {
	Code       protocol.RefusalCode
	Need, Have float64
	Detail     string
	Kind       string

	small bool // the host has too little for the result, and will have
}

// refuse records why the host gets no work. Refusals with one code for one application and kind of
// processor are merged into the one with the least need, since that one will be met first.
func (m *Match) refuse(f protocol.Refusal) {
	for i := range m.refusals {
		if old := &m.refusals[i]; old.Code == f.Code && old.App == f.App && old.Kind == f.Kind {
			old.Count += f.Count
			if f.Need < old.Need || f.Need == old.Need && f.Have > old.Have { // in whatever order they come
				old.Need, old.Have, old.Detail = f.Need, f.Have, f.Detail
			}
			return
		}
	}
	m.refusals = append(m.refusals, f)
}

// skip notes why a candidate is not for this host.
func (m *Match) skip(appID int64, why Lack) {
	m.refuse(protocol.Refusal{
		Code: why.Code, App: m.facts.Catalog.Apps[appID].Name, Kind: why.Kind, Count: 1, Need: why.Need, Have: why.Have, Detail: why.Detail,
	})
}

// Recall adds the refusals that an earlier Match recorded for other candidates.
func (m *Match) Recall(refusals []protocol.Refusal, tooSmall []store.Candidate) {
	mine := m.refusals
	m.refusals = slices.Clone(refusals)
	for _, f := range mine {
		m.refuse(f)
	}
	for i := range tooSmall {
		m.small(&tooSmall[i])
	}
}

// Noted returns why candidates were passed over, one for each reason and application, in
// the order in which they were met.
func (m *Match) Noted() []protocol.Refusal { return m.refusals }

// Refusals returns the reasons for a request that got no work: the recorded refusals, or that there
// is no work. Refusals that are least likely to end by waiting are listed first.
func (m *Match) Refusals() []protocol.Refusal {
	if len(m.refusals) == 0 {
		return []protocol.Refusal{{Code: protocol.RefusedNoTasks}}
	}
	out := slices.Clone(m.refusals)
	slices.SortStableFunc(out, func(a, b protocol.Refusal) int { return cmp.Compare(rank(a.Code), rank(b.Code)) })
	return out
}

// ranks orders codes: those that are least likely to end by waiting come first.
var ranks = []protocol.RefusalCode{
	protocol.RefusedPlatform, protocol.RefusedAppInfo, protocol.RefusedClientVersion, protocol.RefusedVirtualBox, protocol.RefusedContainers, protocol.RefusedImages, protocol.RefusedImageGPU, protocol.RefusedPlanClass, protocol.RefusedPreferences, protocol.RefusedProcessor, protocol.RefusedQuota,
	protocol.RefusedInProgress, protocol.RefusedMemory, protocol.RefusedDisk, protocol.RefusedBandwidth,
	protocol.RefusedDeadline, protocol.RefusedUnreliable, protocol.RefusedTrusted, protocol.RefusedChain, protocol.RefusedHasOne, protocol.RefusedReserved,
	protocol.RefusedCommitted, protocol.RefusedStopped, protocol.RefusedNoTasks,
}

func rank(c protocol.RefusalCode) int {
	if i := slices.Index(ranks, c); i >= 0 {
		return i
	}
	return len(ranks)
}
