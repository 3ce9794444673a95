package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// A Filter is something that a list can be filtered by.
type Filter struct {
	Name    string // as a flag and in a page's address
	About   string
	Type    FilterType
	Choices []string // for Choice
	Default string
}

// A FilterType is the format of a filter's values.
type FilterType int

// The types of filters.
const (
	Text   FilterType = iota
	Choice            // one of Choices
	Number            // a decimal number
	Age               // an age: 90min, 12h, 7d or 4w
	Switch            // true, or nothing
)

// A Query has the values of filters, by name. One that is not there, or empty, does not matter.
type Query map[string]string

// A FilterError describes an invalid value of a filter.
type FilterError struct {
	Filter string
	Text   string
}

// Error implements error.
func (e *FilterError) Error() string { return e.Filter + " " + e.Text }

// limit is the filter that all lists have.
func limit(order string) Filter {
	return Filter{Name: "limit", Type: Number, Default: "50", About: "how many to list" + order}
}

// newest is limit for lists with the newest first.
var newest = limit(", newest first")

// common are the filters of workunits and of results.
func common(states []string) []Filter {
	return []Filter{
		{Name: "state", Type: Choice, Choices: states, About: "only of this state"},
		{Name: "app", About: "only of this application"},
		{Name: "batch", Type: Number, About: "only of this batch"},
		{Name: "host", Type: Number, About: "only sent to this computer"},
		{Name: "older-than", Type: Age, About: "only created longer ago, for example 90min, 12h or 7d"},
		{Name: "newer-than", Type: Age, About: "only created since then, for example 90min, 12h or 7d"},
		{Name: "below", Type: Number, About: "only with a lower number, to continue with older ones"},
		newest,
	}
}

// A reader reads the values of a query and keeps the first error.
type reader struct {
	q   Query
	now time.Time
	err error
}

func (r *reader) fail(name, text string) {
	if r.err == nil {
		r.err = &FilterError{name, text}
	}
}

func (r *reader) number(name string) int64 {
	text := r.q[name]
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail(name, strconv.Quote(text)+" is not a number")
	}
	return n
}

// limit is at least 1.
func (r *reader) limit() int {
	n := r.number("limit")
	if n < 1 || n > 1e6 {
		r.fail("limit", fmt.Sprintf("is %d, want a number from 1 to 1000000", n))
	}
	return int(n)
}

func (r *reader) on(name string) bool { return r.q[name] == "true" }

// units are the units of ages.
var units = map[string]time.Duration{"min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ago returns the time at the given age, or the zero time without one.
func (r *reader) ago(name string) time.Time {
	text := r.q[name]
	if text == "" {
		return time.Time{}
	}
	i := strings.IndexFunc(text, func(c rune) bool { return c >= 'a' })
	if i > 0 {
		n, err := strconv.ParseFloat(text[:i], 64)
		if unit, ok := units[text[i:]]; ok && err == nil && n >= 0 && n <= 1e5 {
			return r.now.Add(-time.Duration(n * float64(unit)))
		}
	}
	r.fail(name, strconv.Quote(text)+" is not a length of time; write for example 90min, 12h, 7d or 4w")
	return time.Time{}
}

// appID finds an application. 0 means any.
func (r *reader) appID(tx *store.View) int64 {
	if r.q["app"] == "" || r.err != nil {
		return 0
	}
	a, err := tx.AppByName(r.q["app"])
	r.err = err
	return a.ID
}

// userID finds an account by number or address. 0 means any.
func (r *reader) userID(tx *store.View) int64 {
	if r.q["user"] == "" || r.err != nil {
		return 0
	}
	u, err := operate.Account(tx, r.q["user"])
	r.err = err
	return u.ID
}

// choose returns the value that a filter names. nil means any.
func choose[T any](r *reader, name string, values map[string]T) *T {
	text := r.q[name]
	if text == "" {
		return nil
	}
	v, ok := values[text]
	if !ok {
		r.fail(name, fmt.Sprintf("%q: want %s", text, strings.Join(names(values), ", ")))
		return nil
	}
	return &v
}

// names returns the names of values, sorted.
func names[T any](values map[string]T) []string { return slices.Sorted(maps.Keys(values)) }

var workunitStates = map[string]store.WorkunitState{
	string(store.Unfinished): store.Unfinished, string(store.Canonical): store.Canonical,
	string(store.GivenUp): store.GivenUp, string(store.Validating): store.Validating,
}

// named maps states by their names.
func named[T fmt.Stringer](list ...T) map[string]T {
	out := make(map[string]T)
	for _, v := range list {
		out[v.String()] = v
	}
	return out
}

var (
	serverStates = named(store.Inactive, store.Unsent, store.InProgress, store.Over)
	outcomes     = named(store.Success, store.CouldntSend, store.ClientError, store.NoReply, store.DidntNeed,
		store.ValidateError, store.ClientDetached)
	validateStates = named(store.ValidateInit, store.Valid, store.Invalid, store.NoCheck, store.Inconclusive, store.TooLate)
)
