package store

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/server/db"
)

// A settled is a table with counts of another table's rows that do not change any more. There may
// be millions of them, so triggers maintain the counts.
type settled struct {
	table, counts string
	when          string   // condition on ROW
	keys          []keyed  // columns of the counts
	columns       []string // whose changes may settle a row or move it to another count
}

// A keyed is a column of the counts, and its value for ROW.
type keyed struct{ name, value string }

var settleds = []settled{
	{
		table: "workunit", counts: "settled_workunit",
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
		table: "result", counts: "settled_result",
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
}

// of writes a condition or value for a row: NEW, OLD or the table's name.
func of(row, text string) string { return strings.ReplaceAll(text, "ROW", row) }

func (s settled) names() string {
	names := make([]string, len(s.keys))
	for i, k := range s.keys {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

func (s settled) values(row string) string {
	values := make([]string, len(s.keys))
	for i, k := range s.keys {
		values[i] = of(row, k.value)
	}
	return strings.Join(values, ", ")
}

// change adds by, which is 1 or -1, to the count of a row that is settled.
func (s settled) change(row string, by int) string {
	return fmt.Sprintf("INSERT INTO %s (%s, total) SELECT %s, %d WHERE %s ON CONFLICT (%[2]s) DO UPDATE SET total = %[1]s.total + %[4]d",
		s.counts, s.names(), s.values(row), by, of(row, s.when))
}

// A countTrigger is a trigger of a table with its event, its condition and its action.
type countTrigger struct{ table, name, event, when, do string }

// countTriggers returns the triggers that maintain counts.
func countTriggers() (out []countTrigger) {
	for _, s := range settleds {
		out = append(out, s.triggers()...)
	}
	return append(out, tokenTriggers()...)
}

func (s settled) triggers() []countTrigger {
	before, after := of("OLD", s.when), of("NEW", s.when)
	name := s.table + "_settled_"
	return []countTrigger{
		{s.table, name + "insert", "INSERT", after, s.change("NEW", 1)},
		{s.table, name + "delete", "DELETE", before, s.change("OLD", -1)},
		{
			s.table, name + "update", "UPDATE OF " + strings.Join(s.columns, ", "), "(" + before + ") OR (" + after + ")",
			s.change("OLD", -1) + "; " + s.change("NEW", 1),
		},
	}
}

// anew returns a query that counts the rows themselves.
func (s settled) anew() string {
	return fmt.Sprintf("SELECT %s, count(*) AS total FROM %s WHERE %s GROUP BY %s", s.values(s.table), s.table, of(s.table, s.when), s.values(s.table))
}

// wrong returns an invariant's query for counts that differ from the rows.
func (s settled) wrong() string {
	return fmt.Sprintf(`SELECT '%[1]ss of application ' || appid, appid FROM (
	SELECT %[2]s, sum(total) AS difference FROM (SELECT %[2]s, total FROM %[3]s UNION ALL SELECT %[4]s, -count(*) FROM %[1]s WHERE %[5]s GROUP BY %[4]s) AS c
	GROUP BY %[2]s) AS d
WHERE difference <> 0 GROUP BY appid`, s.table, s.names(), s.counts, s.values(s.table), of(s.table, s.when))
}

// countSettled replaces the counts of the triggers with counts of the rows.
func (t *Tx) countSettled() error {
	for _, s := range settleds {
		if err := t.run(db.Change("DELETE FROM " + s.counts)); err != nil {
			return err
		}
		if err := t.run(db.Change(fmt.Sprintf("INSERT INTO %s (%s, total) %s", s.counts, s.names(), s.anew()))); err != nil {
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

const countWorkunits = `
SELECT appid, canonical, given_up, assimilate_state, 1, total FROM settled_workunit
UNION ALL
SELECT appid, 0, 0, 0, 0, count(*) FROM workunit
WHERE  file_delete_state <> 2 AND canonical_resultid = 0 AND error_mask = 0 GROUP BY appid
UNION ALL
SELECT appid, CASE WHEN canonical_resultid <> 0 THEN 1 ELSE 0 END AS c, CASE WHEN error_mask <> 0 THEN 1 ELSE 0 END AS e, assimilate_state, 0, count(*)
FROM   workunit WHERE file_delete_state <> 2 AND (canonical_resultid <> 0 OR error_mask <> 0) GROUP BY appid, c, e, assimilate_state`

// workunitCounts counts all workunits. Its cost depends on the workunits whose files are not
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

// Unsent results are counted by kind, and one result of each kind has the application, because the
// index does not. Results of kind 0 are few: they were made since the last look at the queue.
const countResults = `
SELECT appid, app_version_id, 5, outcome, validate_state, granted, total FROM settled_result
UNION ALL
SELECT appid, app_version_id, 5, outcome, validate_state, CASE WHEN granted_credit > 0 THEN 1 ELSE 0 END AS g, count(*)
FROM   result WHERE server_state = 5 AND file_delete_state <> 2 AND outcome <> 2 AND outcome <> 5
GROUP  BY appid, app_version_id, outcome, validate_state, g
UNION ALL
SELECT appid, app_version_id, 4, 0, 0, 0, count(*) FROM result WHERE server_state = 4 GROUP BY appid, app_version_id
UNION ALL
SELECT appid, 0, 1, 0, 0, 0, count(*) FROM result WHERE server_state = 1 GROUP BY appid
UNION ALL
SELECT appid, 0, 2, 0, 0, 0, count(*) FROM result WHERE server_state = 2 AND kind = 0 GROUP BY appid
UNION ALL
SELECT r.appid, 0, 2, 0, 0, 0, k.n
FROM  (SELECT min(id) AS first, count(*) AS n FROM result WHERE server_state = 2 AND kind <> 0 GROUP BY kind) AS k JOIN result r ON r.id = k.first`

// resultCounts counts all results. Its cost depends on the results whose files are not deleted.
func (t *View) resultCounts() ([]resultCount, error) {
	return all(t, func(r row) (c resultCount, err error) {
		err = r.Scan(&c.app, &c.version, &c.state, &c.outcome, &c.valid, (*flag)(&c.granted), &c.n)
		return c, err
	}, countResults)
}
