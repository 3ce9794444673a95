package store

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/server/db"
)

// A tally is a table with counts of another table's rows, of which there may be millions. Triggers
// maintain the counts.
type tally struct {
	table, name string   // its own name is NAME_TABLE
	about       string   // the rows, for people
	when        string   // condition on ROW for being counted
	keys        []keyed  // columns of the counts
	columns     []string // whose changes may move a row to another count
}

// A keyed is a column of the counts, and its value for ROW.
type keyed struct{ name, value string }

// The settled rows do not change any more. The made ones are all that are not purged: their counts change
// when rows are inserted and deleted only, so that schedulers do not wait for each other.
var tallies = []tally{
	{
		table: "workunit", name: "settled", about: "finished workunits",
		when: `ROW.file_delete_state = 2`,
		keys: []keyed{
			{"appid", `ROW.appid`},
			{"canonical", `CASE WHEN ROW.canonical_resultid <> 0 THEN 1 ELSE 0 END`},
			{"given_up", `CASE WHEN ROW.error_mask <> 0 THEN 1 ELSE 0 END`},
			{"assimilate_state", `ROW.assimilate_state`},
		},
		columns: []string{"file_delete_state", "canonical_resultid", "error_mask", "assimilate_state"},
	},
	{
		table: "result", name: "settled", about: "finished results",
		// Results that were never sent do not have files.
		when: `ROW.server_state = 5 AND (ROW.file_delete_state = 2 OR ROW.outcome IN (2, 5))`,
		keys: []keyed{
			{"appid", `ROW.appid`},
			{"app_version_id", `ROW.app_version_id`},
			{"outcome", `ROW.outcome`},
			{"validate_state", `ROW.validate_state`},
			{"granted", `CASE WHEN ROW.granted_credit > 0 THEN 1 ELSE 0 END`},
		},
		columns: []string{"file_delete_state", "server_state", "app_version_id", "outcome", "validate_state", "granted_credit"},
	},
	{table: "workunit", name: "made", about: "workunits", when: `1 = 1`, keys: []keyed{{"appid", `ROW.appid`}}},
	{table: "result", name: "made", about: "results", when: `1 = 1`, keys: []keyed{{"appid", `ROW.appid`}}},
}

func (s tally) counts() string { return s.name + "_" + s.table }

// of writes a condition or value for a row: NEW, OLD or the table's name.
func of(row, text string) string { return strings.ReplaceAll(text, "ROW", row) }

func (s tally) names() string {
	names := make([]string, len(s.keys))
	for i, k := range s.keys {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

func (s tally) values(row string) string {
	values := make([]string, len(s.keys))
	for i, k := range s.keys {
		values[i] = of(row, k.value)
	}
	return strings.Join(values, ", ")
}

// change adds by, which is 1 or -1, to the count of a row.
func (s tally) change(row string, by int) string {
	return fmt.Sprintf("INSERT INTO %s (%s, total) SELECT %s, %d WHERE %s ON CONFLICT (%[2]s) DO UPDATE SET total = %[1]s.total + %[4]d",
		s.counts(), s.names(), s.values(row), by, of(row, s.when))
}

// changeAll is change for all rows that one statement has inserted or deleted.
func (s tally) changeAll(by int) string {
	return fmt.Sprintf("INSERT INTO %s (%s, total) SELECT %s, %d * count(*) FROM changed WHERE %s GROUP BY %[3]s ORDER BY %[3]s ON CONFLICT (%[2]s) DO UPDATE SET total = %[1]s.total + excluded.total",
		s.counts(), s.names(), s.values("changed"), by, of("changed", s.when))
}

// A countTrigger is a trigger of a table with its event, its condition and its action.
type countTrigger struct {
	table, name, event, when, do string

	doAll string // PostgreSQL: the action for all rows of a statement, which are in the table changed (may be empty)
}

// countTriggers returns the triggers that maintain counts.
func countTriggers() (out []countTrigger) {
	for _, s := range tallies {
		out = append(out, s.triggers()...)
	}
	return append(out, tokenTriggers()...)
}

func (s tally) triggers() []countTrigger {
	before, after := of("OLD", s.when), of("NEW", s.when)
	name := s.table + "_" + s.name + "_"
	out := []countTrigger{
		{s.table, name + "insert", "INSERT", after, s.change("NEW", 1), s.changeAll(1)},
		{s.table, name + "delete", "DELETE", before, s.change("OLD", -1), s.changeAll(-1)},
	}
	if len(s.columns) > 0 {
		out = append(out, countTrigger{
			s.table, name + "update", "UPDATE OF " + strings.Join(s.columns, ", "), "(" + before + ") OR (" + after + ")",
			s.change("OLD", -1) + "; " + s.change("NEW", 1), "",
		})
	}
	return out
}

// anew returns a query that counts the rows themselves.
func (s tally) anew() string {
	return fmt.Sprintf("SELECT %s, count(*) AS total FROM %s WHERE %s GROUP BY %s", s.values(s.table), s.table, of(s.table, s.when), s.values(s.table))
}

// wrong returns an invariant's query for counts that differ from the rows.
func (s tally) wrong() string {
	return fmt.Sprintf(`SELECT '%[1]ss of application ' || appid, appid FROM (
	SELECT %[2]s, sum(total) AS difference FROM (SELECT %[2]s, total FROM %[3]s UNION ALL SELECT %[4]s, -count(*) FROM %[1]s WHERE %[5]s GROUP BY %[4]s) AS c
	GROUP BY %[2]s) AS d
WHERE difference <> 0 GROUP BY appid`, s.table, s.names(), s.counts(), s.values(s.table), of(s.table, s.when))
}

// countAnew replaces the counts of the triggers with counts of the rows.
func (t *Tx) countAnew() error {
	for _, s := range tallies {
		if err := t.run(db.Change("DELETE FROM " + s.counts())); err != nil {
			return err
		}
		if err := t.run(db.Change(fmt.Sprintf("INSERT INTO %s (%s, total) %s", s.counts(), s.names(), s.anew()))); err != nil {
			return err
		}
	}
	return nil
}

// A workunitCount is the number of workunits that are alike.
type workunitCount struct {
	app              int64
	canonical, error bool
	assimilate       AssimilateState
	settled          bool
	n                int64
}

// The unfinished workunits are the rest.
const countWorkunits = `
WITH others (appid, canonical, given_up, assimilate_state, settled, n) AS (
	SELECT appid, canonical, given_up, assimilate_state, 1, total FROM settled_workunit
	UNION ALL
	SELECT appid, CASE WHEN canonical_resultid <> 0 THEN 1 ELSE 0 END AS c, CASE WHEN error_mask <> 0 THEN 1 ELSE 0 END AS e, assimilate_state, 0, count(*)
	FROM   workunit WHERE file_delete_state <> 2 AND (canonical_resultid <> 0 OR error_mask <> 0) GROUP BY appid, c, e, assimilate_state
)
SELECT appid, canonical, given_up, assimilate_state, settled, n FROM others
UNION ALL
SELECT appid, 0, 0, 0, 0, CAST(total - COALESCE((SELECT sum(n) FROM others WHERE others.appid = made_workunit.appid), 0) AS BIGINT) FROM made_workunit`

// workunitCounts counts all workunits. Its cost depends on the finished ones whose files are not
// deleted.
func (t *View) workunitCounts() ([]workunitCount, error) {
	return all(t, func(r row) (c workunitCount, err error) {
		err = r.Scan(&c.app, (*flag)(&c.canonical), (*flag)(&c.error), &c.assimilate, (*flag)(&c.settled), &c.n)
		return c, err
	}, countWorkunits)
}

// A resultCount is the number of results that are alike.
type resultCount struct {
	app, version int64
	state        ServerState
	outcome      Outcome
	valid        ValidateState
	granted      bool
	n            int64
}

// The unsent results are the rest.
const countResults = `
WITH others (appid, app_version_id, server_state, outcome, validate_state, granted, n) AS (
	SELECT appid, app_version_id, 5, outcome, validate_state, granted, total FROM settled_result
	UNION ALL
	SELECT appid, app_version_id, 5, outcome, validate_state, CASE WHEN granted_credit > 0 THEN 1 ELSE 0 END AS g, count(*)
	FROM   result WHERE server_state = 5 AND file_delete_state <> 2 AND outcome <> 2 AND outcome <> 5
	GROUP  BY appid, app_version_id, outcome, validate_state, g
	UNION ALL
	SELECT appid, app_version_id, 4, 0, 0, 0, count(*) FROM result WHERE server_state = 4 GROUP BY appid, app_version_id
	UNION ALL
	SELECT appid, 0, 1, 0, 0, 0, count(*) FROM result WHERE server_state = 1 GROUP BY appid
)
SELECT appid, app_version_id, server_state, outcome, validate_state, granted, n FROM others
UNION ALL
SELECT appid, 0, 2, 0, 0, 0, CAST(total - COALESCE((SELECT sum(n) FROM others WHERE others.appid = made_result.appid), 0) AS BIGINT) FROM made_result`

// resultCounts counts all results. Its cost depends on those in progress, and on those whose files are
// not deleted.
func (t *View) resultCounts() ([]resultCount, error) {
	return all(t, func(r row) (c resultCount, err error) {
		err = r.Scan(&c.app, &c.version, &c.state, &c.outcome, &c.valid, (*flag)(&c.granted), &c.n)
		return c, err
	}, countResults)
}
