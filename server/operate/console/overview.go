package console

import (
	"net/http"
	"time"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

// A queue is work that waits for a part of the server.
type queue struct {
	Name, For string
	Link      string
	Waiting   int64
	Oldest    int64 // seconds
}

func (c *Console) overview(w http.ResponseWriter, r *http.Request, actor string) {
	now := time.Now()
	st, err := c.counts.Get(r.Context(), 10*time.Second)
	if err != nil {
		c.fail(w, err)
		return
	}
	f, err := c.flow.get(r.Context(), c.project, now)
	if err != nil {
		c.fail(w, err)
		return
	}
	w.Header().Set("Refresh", "60")
	c.show(w, http.StatusOK, "overview.html", map[string]any{
		"Title": "Overview", "Here": "", "Actor": actor, "Status": st, "Queues": queues(st), "Flow": f,
		"Said": c.done(r.URL.Query()),
	})
}

func queues(st counts.Status) []queue {
	w, age := st.Workunits, st.OldestAge
	return []queue{
		{"Results to be sent", "computers", "/results?state=unsent", st.Results.ByServerState[store.Unsent.String()], age["unsent"]},
		{"Transitions", "the transitioner", "", w.TransitionsPending, age["transition_due"]},
		{"Workunits to be validated", "the validator", "/works?state=validating", w.NeedValidate, age["need_validate"]},
		{"Outcomes to be taken", "the assimilator", "", w.WaitingAssimilate, age["waiting_assimilation"]},
		{"Files to be deleted", "the file deleter", "", w.WaitingFileDelete, age["waiting_file_deletion"]},
	}
}

// A failure is an app version with the share of its results that were no good.
type failure struct {
	view.Version
	Number string
	Rate   float64 // percent
}

// failing are the versions that may be sent and fail now and then.
func failing(all []view.Version) (out []failure) {
	for _, v := range all {
		bad, over := v.Error+v.Invalid, v.Error+v.Invalid+v.Valid
		if v.State == "active" && bad > 0 {
			out = append(out, failure{v, view.VersionNumber(int64(v.VersionNum)), 100 * float64(bad) / float64(over)})
		}
	}
	return out
}
