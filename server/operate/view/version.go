package view

import (
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Versions lists app versions.
var Versions = &Listing{
	Short: "List application versions and how their tasks fare",
	Long: "List application versions with their state and how their tasks fare. Purged tasks are not counted.\n\n" +
		"States: active; app_stopped (see app stop); deprecated: no longer sent; removed: its files are deleted too.",
	None: "No application versions.",
	Columns: []Column{
		{"ID", ""},
		{"App", ""},
		{"Version", ""},
		{"Platform", ""},
		{"Plan class", ""},
		{"State", ""},
		{"In progress", ""},
		{"Valid", ""},
		{"Invalid", ""},
		{"Error", ""},
		{"Hosts", ""},
		{"Created", ""},
	},
	Filters: []Filter{{Name: "app", About: "only those of this application"}},
	find:    findVersions,
}

// A Version is an app version and how its results fare.
type Version struct {
	ID         int64     `json:"id"`
	App        string    `json:"app"`
	VersionNum int       `json:"version_num"` // 100·major + minor
	Platform   string    `json:"platform"`
	PlanClass  string    `json:"plan_class"`
	CreateTime time.Time `json:"create_time"`
	State      string    `json:"state"` // active, app_stopped, deprecated or removed
	store.VersionUse
}

func findVersions(tx *store.View, q Query, now time.Time) (List, error) {
	r := &reader{q: q, now: now}
	only := r.appID(tx)
	if r.err != nil {
		return List{}, r.err
	}
	apps, err := tx.Apps()
	if err != nil {
		return List{}, err
	}
	byID := make(map[int64]store.App)
	for _, a := range apps {
		byID[a.ID] = a
	}
	uses, err := tx.VersionUses()
	if err != nil {
		return List{}, err
	}
	all, err := tx.AllAppVersions()
	views := []Version{}
	list := List{}
	for _, v := range all {
		if only != 0 && v.AppID != only {
			continue
		}
		view := Version{
			ID: v.ID, App: byID[v.AppID].Name, VersionNum: v.VersionNum, Platform: v.Platform.Name, PlanClass: v.PlanClass,
			CreateTime: UTC(v.CreateTime), State: "active", VersionUse: uses[v.ID],
		}
		switch {
		case v.Deprecated && v.XMLDoc == "":
			view.State = "removed"
		case v.Deprecated:
			view.State = "deprecated"
		case byID[v.AppID].Deprecated:
			view.State = "app_stopped"
		}
		views = append(views, view)
		list.Rows = append(list.Rows, []any{
			view.ID, view.App, VersionNumber(int64(view.VersionNum)), view.Platform, view.PlanClass, view.State,
			view.InProgress, view.Valid, view.Invalid, view.Error, view.Hosts, view.CreateTime,
		})
	}
	list.Of = views
	return list, err
}
