package view

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/store"
)

// Apps lists applications.
var Apps = &Listing{
	Short: "List applications, their settings and their work",
	None:  "No applications.",
	Columns: []Column{
		{"App", ""},
		{"State", ""},
		{"Versions", ""},
		{"Workunits", ""},
		{"Unfinished", ""},
		{"Unsent", ""},
		{"In progress", ""},
		{"Validator", ""},
		{"Assimilator", ""},
		{"Credit", ""},
		{"Wh per result", ""},
		{"Weight", ""},
		{"Task time", ""},
	},
	find: findApps,
}

// An App is an application with its settings and the amount of its work.
type App struct {
	ID             int64   `json:"id"`
	Name           string  `json:"name"`
	FriendlyName   string  `json:"user_friendly_name"`
	State          string  `json:"state"` // active or stopped
	Validator      string  `json:"validator"`
	Assimilator    string  `json:"assimilator"`
	Credit         string  `json:"credit"`
	Weight         float64 `json:"weight"`
	TaskTime       float64 `json:"task_time"` // seconds that a result should take on its host (0: any)
	Trickle        string  `json:"trickle,omitempty"`
	Redundancy     int     `json:"homogeneous_redundancy"`
	SameVersion    bool    `json:"homogeneous_app_version"`
	TargetNResults int     `json:"target_nresults"`
	// NonCPUIntensive: its tasks need little CPU time and run in addition to others.
	NonCPUIntensive bool `json:"non_cpu_intensive,omitempty"`
	store.AppUse
}

func findApps(tx *store.View, _ Query, _ time.Time) (List, error) {
	apps, err := tx.Apps()
	if err != nil {
		return List{}, err
	}
	uses, err := tx.AppUses()
	views := []App{}
	list := List{}
	for _, a := range apps {
		v := App{
			ID: a.ID, Name: a.Name, FriendlyName: a.UserFriendlyName, State: "active", Validator: a.Validator,
			Assimilator: a.Assimilator, Credit: a.Credit, Weight: a.Weight, TaskTime: a.TaskTime.Seconds(), Trickle: a.Trickle,
			Redundancy: a.HomogeneousRedundancy, SameVersion: a.HomogeneousAppVersion, TargetNResults: a.TargetNResults, NonCPUIntensive: a.NonCPUIntensive,
			AppUse: uses[a.ID],
		}
		if a.Deprecated {
			v.State = "stopped"
		}
		if v.Credit == "" {
			v.Credit = "flops"
		}
		if v.Weight == 0 {
			v.Weight = 1
		}
		views = append(views, v)
		list.Rows = append(list.Rows, []any{
			v.Name, v.State, v.Versions, v.Workunits, v.Unfinished, v.Unsent, v.InProgress, v.Validator, v.Assimilator, v.Credit, whPerResult(v.CreditedEnergy), words.Float(v.Weight), taskTime(a.TaskTime),
		})
	}
	list.Of = views
	return list, err
}

// whPerResult returns the average energy of credited results, and the number of those that share it.
func whPerResult(e store.CreditedEnergy) string {
	if e.Results == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g (%s)", e.Wh/float64(e.Results), words.Count(int(e.Results), "result"))
}

func taskTime(d time.Duration) string {
	if d == 0 {
		return "any"
	}
	return words.Span(d)
}
