package view

import (
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Batches lists batches.
var Batches = &Listing{
	Short: "List batches and their progress",
	Long:  "List the batches with the highest numbers.",
	None:  "No batches.",
	Columns: []Column{
		{"Batch", OfBatch},
		{"App", ""},
		{"Workunits", ""},
		{"Unfinished", ""},
		{"Canonical", ""},
		{"Error", ""},
		{"Assimilated", ""},
		{"Credit", ""},
		{"Created", ""},
	},
	Filters: []Filter{limit("")},
	find:    findBatches,
}

// A BatchLine is a batch in a list.
type BatchLine struct {
	store.BatchSummary
	App     string `json:"app,omitempty"`     // "" several
	Results any    `json:"results,omitempty"` // are counted for one batch alone
}

func findBatches(tx *store.Tx, q Query, now time.Time) (List, error) {
	r := &reader{q: q, now: now}
	n := r.limit()
	if r.err != nil {
		return List{}, r.err
	}
	c, err := readCatalog(tx)
	if err != nil {
		return List{}, err
	}
	found, err := tx.Batches(n)
	views := []BatchLine{}
	list := List{}
	for _, b := range found {
		app := c.apps[b.AppID]
		b.CreateTime = UTC(b.CreateTime)
		views = append(views, BatchLine{BatchSummary: b, App: app})
		if b.AppID == 0 {
			app = "several"
		}
		list.Rows = append(list.Rows, []any{b.Batch, app, b.Total, b.Unfinished, b.Canonical, b.Error, b.Assimilate, b.Credit, b.CreateTime})
	}
	list.Of = views
	return list, err
}
