package boincimport

import (
	"errors"
	"io/fs"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// history imports the credit that the project has given by day. It is only for people to look at:
// if it is missing or incomplete, the import continues.
func (m *importer) history(p *state.Project) {
	name := "statistics_" + protocol.EscapeURL(p.MasterURL) + ".xml"
	b, err := m.read(name, maxHistory)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var days []protocol.DailyStatistic
	if err == nil {
		_, days, err = protocol.ParseStatistics(b)
	}
	if err != nil {
		m.note("the credit history was not imported: %s: %v", name, err)
		return
	}
	for _, d := range days {
		if d.Day.Before(m.now) {
			p.Statistics = state.AddCredit(p.Statistics, d.Day, state.DailyCredit{
				UserTotal: d.UserTotal, UserExpavg: d.UserExpavg, HostTotal: d.HostTotal, HostExpavg: d.HostExpavg,
			})
		}
	}
}

// estimates converts the client's correction of computing times. A factor of 1 is its initial
// value, and the one that it keeps for projects that want no correction.
func estimates(correction float64) state.Estimates {
	if !(correction > 0) || correction == 1 {
		return state.Estimates{}
	}
	return state.Estimates{Results: 1, Ratio: min(max(correction, 0.01), 100)} // BOINC's own bounds
}
