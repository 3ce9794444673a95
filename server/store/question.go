package store

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/starling-grid/starling/server/db"
)

// A Question is a query whose answer is given to a function, row by row. It is asked by View.Ask.
type Question = db.Question

// Ask asks questions that do not depend on each other, in one round trip to the database. It returns the first
// error.
func (t *View) Ask(list ...Question) error { return t.db.Ask(list...) }

// A lookup finds the rows that have one of some keys. Most often there is one key.
type lookup struct{ one, several string }

// byID makes the lookup by a column of ids, with which the first part of the query ends.
func byID(query, rest string) lookup {
	return lookup{query + " = $1" + rest, query + " IN " + ids + rest}
}

// byText is byID for texts.
func byText(query, rest string) lookup {
	return lookup{query + " = $1" + rest, query + " IN " + names + rest}
}

// withIDs is the question for the rows that have one of some ids.
func withIDs[T any](k lookup, list []int64, scan func(row) (T, error), found func(T)) Question {
	switch len(list) {
	case 0:
		return Question{}
	case 1:
		return db.NewQuestion(scan, found, k.one, list[0])
	}
	return db.NewQuestion(scan, found, k.several, jsonList(list))
}

// withTexts is withIDs for texts.
func withTexts[T any](k lookup, list []string, scan func(row) (T, error), found func(T)) Question {
	list = writable(list)
	switch len(list) {
	case 0:
		return Question{}
	case 1:
		return db.NewQuestion(scan, found, k.one, list[0])
	}
	return db.NewQuestion(scan, found, k.several, jsonTexts(list))
}

// writable returns the texts without those that have a zero byte. PostgreSQL refuses these, so no row has one.
func writable(list []string) []string {
	return slices.DeleteFunc(append([]string{}, list...), func(text string) bool { return strings.ContainsRune(text, 0) })
}

// jsonTexts returns texts as JSON, for the condition IN names.
func jsonTexts(list []string) string {
	b, err := json.Marshal(writable(list))
	if err != nil {
		panic(err) // texts always have a form in JSON
	}
	return string(b)
}

// asked returns the answer to a question of one row, or ErrNotFound.
func asked[T any](t *View, ask func(found func(T)) Question) (answer T, err error) {
	there := false
	if err = t.Ask(ask(func(x T) { answer, there = x, true })); err == nil && !there {
		err = ErrNotFound
	}
	return answer, err
}
