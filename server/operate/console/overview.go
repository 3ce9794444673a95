package console

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

const (
	// silence is the number of hours in which nothing may be reported while tasks are in progress.
	silence = 2
	// stalled is the maximum time that a part of the server may leave something waiting.
	stalled = time.Hour
	// alarming is the percentage of a computer's failures from which an operator should act.
	alarming = 10
)

func (c *Console) overview(w http.ResponseWriter, r *http.Request, actor string) {
	st, err := c.counts.Get(r.Context(), 10*time.Second)
	if err != nil {
		c.fail(w, err)
		return
	}
	f, err := c.flow.Get(r.Context(), time.Minute)
	if err != nil {
		c.fail(w, err)
		return
	}
	troubles, err := store.Read(r.Context(), c.project.Store, func(tx *store.View) ([]store.Violation, error) { return pass.Advise(tx, time.Now()) })
	if err != nil {
		c.fail(w, err)
		return
	}
	w.Header().Set("Refresh", "60")
	c.show(w, http.StatusOK, "overview.html", map[string]any{
		"Title": verdict(st, f), "Here": "", "Actor": actor, "Status": st, "Flow": f,
		"Needs": append(advised(append(operate.CheckFolders(c.project), troubles...)), needs(st, f)...), "Figures": figures(st, f), "Said": c.done(r.URL.Query()),
	})
}

// verdict returns the state of the project in one sentence.
func verdict(st counts.Status, f flow) string {
	unsent, running := st.Results.ByServerState[store.Unsent.String()], st.Results.ByServerState[store.InProgress.String()]
	switch silent := f.silent(); {
	case st.Workunits.Total == 0:
		return "No work. Create some: starling-server work create"
	case running > 0 && silent >= silence:
		return fmt.Sprintf("No results for %d h", silent)
	case unsent == 0:
		return "Nothing to send"
	}
	return "Work is flowing"
}

// A need is a problem that requires an operator's action, with the list that shows it.
type need struct{ What, More, Link, See string }

// advised returns the problems that a check has found.
func advised(wrong []store.Violation) (all []need) {
	for _, v := range wrong {
		all = append(all, need{What: v.Rows[0] + ".", More: "You can: " + v.Mend + "."})
	}
	return all
}

// needs returns the problems that require an operator's action, the worst first.
func needs(st counts.Status, f flow) (all []need) {
	for _, q := range st.Queues()[1:] {
		if age := time.Duration(q.Oldest) * time.Second; q.Waiting > 0 && age >= stalled {
			all = append(all, need{
				fmt.Sprintf("%s: the oldest has waited %s.", q.Name, words.Span(age)),
				fmt.Sprintf("The %s does not run, or fails: see starling-server doctor.", q.For), q.List, "Show them",
			})
		}
	}
	for _, x := range st.Untaken {
		all = append(all, need{x.Text.String(), "", "results?state=unsent", "Show results"})
	}
	for _, v := range f.Failing {
		if v.Alarming() {
			all = append(all, need{
				v.Alarm() + ".", "",
				fmt.Sprintf("results?version-id=%d&outcome=client_error", v.ID), "Show results",
			})
		}
	}
	return all
}

// A figure is a number with its meaning.
type figure struct{ Name, Number, Note string }

func figures(st counts.Status, f flow) []figure {
	unsent, running := st.Results.ByServerState[store.Unsent.String()], st.Results.ByServerState[store.InProgress.String()]
	send := figure{Name: "To send", Number: words.Number(unsent).String()}
	if rate := f.lately(sent, 0); rate > 0 && unsent > 0 {
		send.Note = fmt.Sprintf("%s of work at the rate of the last 24 hours", words.Span(time.Duration(float64(unsent)/float64(rate)*24*float64(time.Hour)).Round(time.Hour)))
	}
	var by []string
	for _, a := range st.ByApp {
		if a.InProgress > 0 && len(by) < 3 {
			by = append(by, words.Number(a.InProgress).String()+" "+a.FullName)
		}
	}
	check := figure{Name: "To validate", Number: words.Number(st.Workunits.NeedValidate).String()}
	if st.Workunits.NeedValidate > 0 {
		check.Note = "The oldest has waited " + words.Span(time.Duration(st.OldestAge["need_validate"])*time.Second)
	}
	good := figure{Name: "Valid in the last 24 hours", Number: words.Number(st.Results.ValidToday).String()}
	if !f.Cut {
		good.Note = words.Number(int64(f.lately(valid, 1))).String() + " the day before"
	}
	return []figure{send, {"In progress", words.Number(running).String(), strings.Join(by, ", ")}, check, good}
}
