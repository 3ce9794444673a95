package view

import (
	"time"

	"github.com/starling-grid/starling/server/forecast"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// Batches lists batches.
var Batches = &Listing{
	Short: "List batches and their progress",
	Long:  "List the batches with the highest numbers.",
	None:  "No batches.",
	Columns: []Column{
		{"Batch", OfBatch},
		{"Name", ""},
		{"Token", ""},
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
	store.BatchStatus
	App string `json:"app,omitempty"` // "" several
}

func findBatches(tx *store.View, q Query, now time.Time) (List, error) {
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
		views = append(views, BatchLine{BatchStatus: b, App: app})
		if b.AppID == 0 {
			app = "several"
		}
		list.Rows = append(list.Rows, []any{b.Batch, b.Name, b.Token, app, b.Total, b.Unfinished, b.Canonical, b.Error, b.Assimilate, b.Credit, b.CreateTime})
	}
	list.Of = views
	return list, err
}

// A Batch is all that is known of a batch.
type Batch struct {
	store.BatchStatus
	Fraction float64  `json:"fraction_done"` // of the workunits, those that have an outcome
	Estimate Estimate `json:"estimate"`
}

// An Estimate has the time when a batch will be done.
type Estimate struct {
	Text      string    `json:"text"`
	End       time.Time `json:"end_time,omitzero"` // zero: not known
	Basis     string    `json:"basis"`             // see docs/api.md
	Computers int       `json:"computers"`         // that can compute it and were active in the last 7 days
	Rate      float64   `json:"flops_per_second"`  // of all of these
}

// BatchBy returns a batch with an estimate of its end.
func BatchBy(tx *store.View, id int64, rules *match.Rules, now time.Time) (b Batch, err error) {
	if b.BatchStatus, err = tx.BatchStatus(id); err != nil {
		return b, err
	}
	b.CreateTime = UTC(b.CreateTime)
	b.Fraction = float64(b.Total-b.Unfinished) / float64(b.Total)
	f, err := forecast.Batch(tx, id, rules, now)
	b.Estimate = Estimate{Text: f.Text().String(), Basis: string(f.Basis), Computers: f.Computers, Rate: f.Rate}
	if f.Known() {
		b.Estimate.End = now.Add(f.Left).UTC().Truncate(time.Second)
	}
	return b, err
}
