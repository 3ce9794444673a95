package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/store"
)

// filterFlags are what lists of workunits and of results are filtered by.
type filterFlags struct {
	state, app, older, newer string
	batch, host              int64
	limit                    int
	json                     bool
}

func (f *filterFlags) define(cmd *cobra.Command, states string) {
	fs := cmd.Flags()
	fs.StringVar(&f.state, "state", "", "only of this state: "+states)
	fs.StringVar(&f.app, "app", "", "only of this application")
	fs.Int64Var(&f.batch, "batch", 0, "only of this batch")
	fs.Int64Var(&f.host, "host", 0, "only sent to this computer")
	fs.StringVar(&f.older, "older-than", "", "only created longer ago, for example 90min, 12h or 7d")
	fs.StringVar(&f.newer, "newer-than", "", "only created since then, for example 90min, 12h or 7d")
	fs.IntVar(&f.limit, "limit", 50, "how many to list, newest first")
	jsonFlag(cmd, &f.json)
}

// times returns before when and since when what is listed was created.
func (f *filterFlags) times(now time.Time) (before, since time.Time, err error) {
	if f.limit < 1 {
		return before, since, fmt.Errorf("--limit is %d, want a number above 0", f.limit)
	}
	if before, err = ago("older-than", f.older, now); err == nil {
		since, err = ago("newer-than", f.newer, now)
	}
	return before, since, err
}

// appID finds the application that is asked for; 0 any.
func (f *filterFlags) appID(tx *store.Tx) (int64, error) {
	if f.app == "" {
		return 0, nil
	}
	a, err := tx.AppByName(f.app)
	return a.ID, err
}

// units are those of --older-than and the like.
var units = map[string]time.Duration{"min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ago reads how long before now something was; "" is the zero time.
func ago(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	i := strings.IndexFunc(text, func(c rune) bool { return c >= 'a' })
	if i > 0 {
		n, err := strconv.ParseFloat(text[:i], 64)
		if unit, ok := units[text[i:]]; ok && err == nil && n >= 0 && n <= 1e5 {
			return now.Add(-time.Duration(n * float64(unit))), nil
		}
	}
	return time.Time{}, fmt.Errorf("--%s %q is not a length of time; write for example 90min, 12h, 7d or 4w", flag, text)
}

// choose finds what a flag names; "" is the zero value.
func choose[T any](flag, name string, values map[string]T) (v T, err error) {
	if name == "" {
		return v, nil
	}
	v, ok := values[name]
	if !ok {
		return v, fmt.Errorf("--%s %q: want %s", flag, name, oneOf(values))
	}
	return v, nil
}

// oneOf lists the names that a flag can have.
func oneOf[T any](values map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(values)), ", ")
}

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
