package view

import (
	"time"

	"github.com/starling-grid/starling/server/store"
)

// An Event is a move in the story of a row.
type Event struct {
	Time  time.Time `json:"time,omitzero"`
	By    string    `json:"by,omitempty"`
	Cause string    `json:"cause,omitempty"`
	Of    string    `json:"of,omitempty"` // the result, in the story of its workunit
	Move  string    `json:"move"`
}

func viewHistory(of string, history []store.Event) []Event {
	out := []Event{}
	for _, e := range history {
		out = append(out, Event{UTC(e.Time), e.By, e.Why, of, e.Move})
	}
	return out
}
