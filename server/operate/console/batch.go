package console

import (
	"fmt"

	"github.com/starling-grid/starling/internal/look"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
)

// A batchHead is the head of a batch's page, above the details.
type batchHead struct {
	Done, Total int64 // workunits
	Percent     int64 // rounded down
	Figures     []figure
}

func headOf(b view.Batch) batchHead {
	h := batchHead{Done: b.Total - b.Unfinished, Total: b.Total}
	if b.Total > 0 {
		h.Percent = 100 * h.Done / b.Total
	}
	end := figure{"Done on", "Not known", b.Estimate.Text}
	switch {
	case b.Unfinished == 0:
		end = figure{"Unfinished", "0", "All have an outcome, or were given up"}
	case !b.Estimate.End.IsZero():
		end.Number = b.Estimate.End.Format("2 Jan 15:04")
	}
	h.Figures = []figure{
		end,
		{"Given up", words.Number(b.Error).String(), ""},
		{"In progress", words.Number(b.Results[store.InProgress.String()]).String(), words.Number(b.Results[store.Unsent.String()]).String() + " results are not sent yet"},
		{"Credit granted", look.Count(b.Credit), fmt.Sprintf("%s outcomes assimilated", words.Number(b.Assimilate))},
	}
	if b.Unfinished > 0 && b.Estimate.Computers > 0 {
		h.Figures = append(h.Figures, figure{"Computers", words.Number(int64(b.Estimate.Computers)).String(), "active lately and able to compute it"})
	}
	return h
}
