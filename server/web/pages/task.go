package pages

import (
	"errors"
	"net/http"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A task is a result as its volunteer sees it.
type task struct {
	store.Result
	State words.Text
	Bad   bool // it brings nothing
}

func tasks(list []store.Result) (out []task) {
	for _, x := range list {
		state, bad := stateOf(x)
		out = append(out, task{x, state, bad})
	}
	return out
}

// stateOf returns the state of a result in words, and whether it is a bad one.
func stateOf(x store.Result) (state words.Text, bad bool) {
	switch x.ServerState {
	case store.Inactive, store.Unsent:
		return words.T("Not sent"), false
	case store.InProgress:
		return words.T("In progress"), false
	}
	switch x.Outcome {
	case store.Success:
		return validity(x.ValidateState)
	case store.CouldntSend:
		return words.T("Could not be sent"), false
	case store.ClientError:
		switch x.ExitStatus {
		case protocol.ExitAbortedByUser:
			return words.T("Aborted by its volunteer"), true
		case protocol.ExitAbortedByProject:
			return words.T("Cancelled by the project"), false
		}
		return words.T("Error while computing (exit status {status})", "status", x.ExitStatus), true
	case store.NoReply:
		return words.T("Not returned in time"), true
	case store.DidntNeed:
		return words.T("Not needed"), false
	case store.ValidateError:
		return words.T("Its output could not be checked"), true
	case store.ClientDetached:
		return words.T("Given up: the computer was detached"), true
	}
	return words.T("Ended"), false
}

// validity returns the outcome of comparing a result with the others of its workunit.
func validity(v store.ValidateState) (state words.Text, bad bool) {
	switch v {
	case store.Valid:
		return words.T("Valid"), false
	case store.Invalid:
		return words.T("Invalid: it differs from the others"), true
	case store.Inconclusive:
		return words.T("Returned; it differs from another, and a third will decide"), false
	case store.TooLate:
		return words.T("Returned too late to be compared"), true
	case store.NoCheck:
		return words.T("Returned; not compared, as its workunit was given up"), false
	}
	return words.T("Returned; waits to be compared"), false
}

// task shows a task and, once it is over, the other tasks of its workunit and the output of its
// program.
func (p *Pages) task(w http.ResponseWriter, r *http.Request) {
	data := make(map[string]any)
	visitor, err := p.visitor(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	err = p.Store.View(r.Context(), func(tx *store.View) error {
		x, err := tx.Result(number64(r, "id"))
		if err != nil {
			return err
		}
		if x.HostID == 0 {
			return store.ErrNotFound
		}
		data["Title"], data["Task"] = words.T("Task {name}", "name", x.Name), tasks([]store.Result{x})[0]
		if x.ServerState != store.Over {
			return nil // volunteers with the same work could agree on a result
		}
		owner, err := tx.User(x.UserID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if visitor.ID == x.UserID || err == nil && !owner.HideHosts {
			data["Stderr"] = x.StderrOut
		}
		list, err := tx.ResultsOf(x.WorkunitID)
		var others []store.Result
		for _, o := range list {
			if o.ID != x.ID {
				others = append(others, o)
			}
		}
		data["Others"] = tasks(others)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		p.missing(w, r, words.T("There is no task of this number. Finished ones are kept for a while only."))
	case err != nil:
		p.fail(w, r, err)
	default:
		p.show(w, r, http.StatusOK, "task.html", data)
	}
}
