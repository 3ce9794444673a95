package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
)

// patience is the time limit for reading a list.
const patience = 20 * time.Second

// A field is a filter with its present value, for the form.
type field struct {
	view.Filter
	Value string
}

// A cell of a list, with where it leads.
type cell struct {
	Text, Link string
	Number     bool
}

func (c *Console) list(w http.ResponseWriter, r *http.Request, t tab) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	q := make(view.Query)
	given := r.URL.Query()
	var fields []field
	for _, f := range t.listing.Filters {
		if v := given.Get(f.Name); v != "" {
			q[f.Name] = v
		}
		fields = append(fields, field{f, given.Get(f.Name)})
	}
	list, err := store.Read(ctx, c.project.Store, func(tx *store.View) (view.List, error) { return t.listing.Find(tx, q, time.Now()) })
	data := map[string]any{
		"Title": t.Text, "Here": t.Path, "Listing": t.listing, "Fields": fields, "Filtered": len(q) > 0, "Said": c.done(given),
	}
	code := http.StatusOK
	if bad, ok := errors.AsType[*view.FilterError](err); ok || errors.Is(err, store.ErrNotFound) {
		code, data["Error"] = http.StatusUnprocessableEntity, sentence(err)
		if ok {
			data["Error"] = sentence(bad)
		}
	} else if err != nil {
		c.fail(w, err)
		return
	}
	var rows [][]cell
	for _, row := range list.Rows {
		cells := make([]cell, len(row))
		for i, v := range row {
			cells[i] = cell{view.Cell(v), link(t.listing.Columns[i].Of, v), isNumber(v)}
		}
		rows = append(rows, cells)
	}
	data["Rows"], data["Actions"] = rows, actionsOf(t.Path, "")
	if list.Older > 0 {
		given.Set("below", strconv.FormatInt(list.Older, 10))
		data["Older"] = "/" + t.Path + "?" + given.Encode()
	}
	c.show(w, code, "list.html", data)
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int64, float64:
		return true
	}
	return false
}

// done returns the outcome of the action before this page, once.
func (c *Console) done(q url.Values) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := q.Get("done")
	said := c.said[n]
	delete(c.said, n)
	return said
}
