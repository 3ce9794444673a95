package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ErrIllegal is returned for a change that would break a rule of its row: the legal moves of
// states, or that credit is granted once.
var ErrIllegal = errors.New("illegal move")

// A Rule defines the legal changes of a column. The database refuses all others, from any program,
// because Open makes triggers of Rules.
type Rule struct {
	Table, Column string
	// Moves are the other states to which each state may change. If it is nil, the rows OLD and NEW
	// must fulfill the condition Legal instead.
	Moves map[int64][]int64
	Legal string
	// Or is a condition under which any move is legal.
	Or string
}

// retried is true if a workunit is revived that was given up or cancelled, and its files still
// exist.
const retried = `OLD.error_mask <> 0 AND NEW.error_mask = 0 AND NEW.canonical_resultid = 0
		AND OLD.file_delete_state = 0 AND NEW.file_delete_state = 0 AND NEW.assimilate_state = 0 AND NEW.retries = OLD.retries + 1`

// Rules are the legal moves of workunits and results, by BOINC's numbers. The
// states' types name them.
var Rules = []Rule{
	// Inactive, Unsent, InProgress, Over.
	{Table: "result", Column: "server_state", Moves: map[int64][]int64{1: {2, 5}, 2: {4, 5}, 4: {5}}},
	// A success with unusable output becomes a validate error. A result may be reported late after
	// it was given up because of silence, or as detached.
	{Table: "result", Column: "outcome", Moves: map[int64][]int64{0: {1, 2, 3, 4, 5, 7}, 1: {6}, 4: {1, 3}, 7: {1, 3}}},
	// Init and inconclusive get a final state, and nothing valid becomes invalid. A result that was
	// not compared because its workunit had been given up is compared when that is revived.
	{Table: "result", Column: "validate_state", Moves: map[int64][]int64{0: {1, 2, 3, 4, 5}, 3: {0}, 4: {1, 2, 3, 5}}},
	// Ready, then done or error, which is tried again. A late report brings
	// files that must go too.
	{Table: "result", Column: "file_delete_state", Moves: map[int64][]int64{0: {1}, 1: {2, 3}, 2: {0}, 3: {1}}},
	{Table: "result", Column: "granted_credit", Legal: `NEW.granted_credit = OLD.granted_credit OR OLD.granted_credit = 0 AND NEW.validate_state = 1`},

	{Table: "workunit", Column: "assimilate_state", Moves: map[int64][]int64{0: {1}, 1: {2}}, Or: retried},
	{Table: "workunit", Column: "file_delete_state", Moves: map[int64][]int64{0: {1}, 1: {2, 3}, 3: {1}}},
	{Table: "workunit", Column: "canonical_resultid", Legal: `NEW.canonical_resultid = OLD.canonical_resultid
		OR OLD.canonical_resultid = 0 AND NEW.error_mask = 0`},
	{Table: "workunit", Column: "error_mask", Legal: `(OLD.error_mask & NEW.error_mask) = OLD.error_mask
		AND (NEW.error_mask = 0 OR NEW.canonical_resultid = 0)`, Or: retried},
	{Table: "workunit", Column: "retries", Legal: `NEW.retries = OLD.retries`, Or: retried},
}

// condition returns the condition for a legal change, in the SQL of all databases.
func (r Rule) condition() string {
	var c []string
	if r.Or != "" {
		c = append(c, r.Or)
	}
	if r.Moves == nil {
		return strings.Join(append(c, r.Legal), " OR ")
	}
	c = append(c, fmt.Sprintf("NEW.%s = OLD.%[1]s", r.Column))
	for _, from := range slices.Sorted(maps.Keys(r.Moves)) {
		var to []string
		for _, n := range r.Moves[from] {
			to = append(to, strconv.FormatInt(n, 10))
		}
		c = append(c, fmt.Sprintf("OLD.%s = %d AND NEW.%[1]s IN (%[3]s)", r.Column, from, strings.Join(to, ", ")))
	}
	return strings.Join(c, " OR ")
}

// A guard is the trigger of a table.
type guard struct {
	table, columns string
	illegal        string // when the trigger fires
	refusals       []refusal
}

// A refusal is a message and when it is given.
type refusal struct{ illegal, message string }

func guards() []guard {
	var out []guard
	for _, table := range []string{"result", "workunit"} {
		g := guard{table: table}
		var columns, legal []string
		for _, r := range Rules {
			if r.Table != table {
				continue
			}
			columns = append(columns, r.Column)
			legal = append(legal, "("+r.condition()+")")
			g.refusals = append(g.refusals, refusal{
				"NOT (" + r.condition() + ")", fmt.Sprintf("%v of %s.%s", ErrIllegal, table, r.Column),
			})
		}
		g.columns, g.illegal = strings.Join(columns, ", "), "NOT ("+strings.Join(legal, " AND ")+")"
		out = append(out, g)
	}
	return out
}

// appended are tables whose rows are neither changed nor deleted.
var appended = []string{"audit"}

// catalogTables are the tables whose changes advance catalog.stamp.
var catalogTables = []string{"platform", "app", "app_version"}

// refused turns the refusal of a trigger or of a row's CHECK into ErrIllegal.
func refused(err error) error {
	if err == nil {
		return nil
	}
	for _, s := range []string{ErrIllegal.Error() + " of ", "CHECK constraint failed", "violates check constraint"} {
		if strings.Contains(err.Error(), s) {
			return fmt.Errorf("%w: %w", ErrIllegal, err)
		}
	}
	return err
}
