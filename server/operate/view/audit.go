package view

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Audit lists the actions of operators.
var Audit = &Listing{
	Short: "Show who did what to the project",
	Long: "Show which operator changed the project by which command, newest first. Entries cannot be changed or\n" +
		"deleted. Accounts appear by their numbers.",
	None:    "No entries.",
	Columns: []Column{{"Time", ""}, {"Who", ""}, {"Action", ""}, {"Detail", ""}, {"Error", ""}},
	Filters: []Filter{
		{Name: "newer-than", Type: Age, About: "only since then, for example 90min, 12h or 7d"},
		{Name: "who", About: "only by this user"},
		{Name: "action", About: "only this action, for example \"work cancel\", or \"work\" for all of a group"},
		newest,
	},
	find: findAudit,
}

func findAudit(tx *store.View, q Query, now time.Time) (List, error) {
	r := &reader{q: q, now: now}
	f := store.AuditFilter{Since: r.ago("newer-than"), Actor: q["who"], Action: q["action"], Limit: r.limit()}
	if r.err != nil {
		return List{}, r.err
	}
	entries, err := tx.ListAudit(f)
	if entries == nil {
		entries = []store.AuditEntry{}
	}
	list := List{Of: entries}
	for i := range entries {
		e := &entries[i]
		e.CreateTime = UTC(e.CreateTime)
		first, _, _ := strings.Cut(e.Error, "\n")
		list.Rows = append(list.Rows, []any{e.CreateTime, e.Actor, e.Action, e.Detail, first})
	}
	return list, err
}
