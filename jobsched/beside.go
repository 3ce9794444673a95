package jobsched

import (
	"cmp"
	"slices"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// runBeside lets the jobs run that need little CPU time, one of each project. They wait for memory
// and limits, but not for a CPU, a deadline or a debt.
//
// Different from BOINC, whose client runs all such jobs: its servers send one of each application,
// but a server that sent many could fill the computer with them.
func (c *chooser) runBeside(jobs []int) {
	slices.SortFunc(jobs, func(a, b int) int {
		x, y := &c.Jobs[a], &c.Jobs[b]
		return cmp.Or(-compareBool(x.Running, y.Running), -compareBool(x.Started, y.Started), byDeadline(x, y))
	})
	runs := make([]bool, len(c.Projects))
	for _, i := range jobs {
		switch p := c.Jobs[i].Project; {
		case runs[p]:
			c.decisions[i].Explanation = c.explain(c.Jobs[i], reason.OneAtATime)
		default:
			runs[p] = c.run(i, reason.RunDebt, words.T("Running in addition to other tasks, because it needs little CPU time."))
		}
	}
}
