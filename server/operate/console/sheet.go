package console

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
)

func (c *Console) sheet(w http.ResponseWriter, r *http.Request, kind view.Kind) {
	asked := r.PathValue("id")
	id := asked
	var v any
	err := c.project.Store.View(r.Context(), func(tx *store.View) (err error) {
		switch kind {
		case view.OfWork:
			v, err = view.WorkunitBy(tx, id)
		case view.OfResult:
			v, err = view.ResultBy(tx, id)
		case view.OfHost:
			v, err = view.HostBy(tx, id, c.project.Config.ProcessorOf, time.Now())
		case view.OfUser:
			v, err = view.UserBy(tx, id, time.Now())
		case view.OfBatch:
			n, _ := strconv.ParseInt(id, 10, 64)
			v, err = view.BatchBy(tx, n, c.project.Config.PlanClasses, time.Now())
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		c.show(w, http.StatusNotFound, "closed.html", map[string]any{
			"Title": "Not found", "Error": "There is no " + nouns[kind] + " " + id + ". If there was one, it was purged.", "In": true,
		})
		return
	case err != nil:
		c.fail(w, err)
		return
	}
	s := view.Lay(v)
	if number, ok := s.Number(); ok {
		id = number // whatever it was asked for by
	}
	noun := nouns[kind]
	data := map[string]any{
		"Title": strings.ToUpper(noun[:1]) + noun[1:] + " " + asked, "Here": here[kind], "Sheet": s, "ID": id, "Kind": kind,
		"Actions": actionsOf(string(kind)), "Said": c.done(r.URL.Query()),
	}
	if b, ok := v.(view.Batch); ok {
		data["Batch"] = headOf(b)
	}
	c.show(w, http.StatusOK, "sheet.html", data)
}

// nouns are the names of rows for people, here of the list that each kind is in.
var (
	nouns = map[view.Kind]string{view.OfWork: "workunit", view.OfResult: "result", view.OfBatch: "batch", view.OfHost: "computer", view.OfUser: "account"}
	here  = map[view.Kind]string{view.OfWork: "works", view.OfResult: "results", view.OfBatch: "batches", view.OfHost: "hosts", view.OfUser: "users"}
)
