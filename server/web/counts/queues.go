package counts

import (
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/store"
)

// A Queue is work that waits for a part of the server.
type Queue struct {
	Name    words.Text
	For     string
	List    string // the operator's list of it, with its filter, or ""
	Waiting int64
	Oldest  int64 // seconds that the oldest has waited
}

// Queues are all queues, in the order in which a result passes them.
func (s Status) Queues() []Queue {
	w, age := s.Workunits, s.OldestAge
	return []Queue{
		{words.T("Results to send"), "computers", "results?state=unsent", s.Results.ByServerState[store.Unsent.String()], age["unsent"]},
		{words.T("Transitions"), "transitioner", "", w.TransitionsPending, age["transition_due"]},
		{words.T("Workunits to validate"), "validator", "works?state=validating", w.NeedValidate, age["need_validate"]},
		{words.T("Outcomes to assimilate"), "assimilator", "", w.WaitingAssimilate, age["waiting_assimilation"]},
		{words.T("Files to delete"), "file deleter", "", w.WaitingFileDelete, age["waiting_file_deletion"]},
	}
}
