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
			v, err = view.BatchBy(tx, n, &c.project.Config.Rules, time.Now())
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		c.missing(w, "There is no "+nouns[kind]+" "+id+". If there was one, it was purged.")
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
		"Actions": actionsOf(string(kind), states(v)...), "Said": c.done(r.URL.Query()),
	}
	if b, ok := v.(view.Batch); ok {
		data["Batch"] = headOf(b)
	}
	c.show(w, http.StatusOK, "sheet.html", data)
}

// states returns the words for a row's state, for action.When. It returns nil for a deleted account.
func states(row any) []string {
	switch v := row.(type) {
	case *view.Workunit:
		return []string{"", v.State}
	case *view.Host:
		return []string{"", v.State}
	case *view.User:
		switch {
		case v.State == "deleted":
			return nil
		case v.Trusted:
			return []string{"", v.State, "trusted"}
		}
		return []string{"", v.State, "untrusted"}
	}
	return []string{""}
}

// nouns are the names of rows for people, here of the list that each kind is in.
var (
	nouns = map[view.Kind]string{view.OfWork: "workunit", view.OfResult: "result", view.OfBatch: "batch", view.OfHost: "computer", view.OfUser: "account"}
	here  = map[view.Kind]string{view.OfWork: "works", view.OfResult: "results", view.OfBatch: "batches", view.OfHost: "hosts", view.OfUser: "users"}
)
