package store

import "fmt"

// What always holds, as queries for rows for which it does not. Each yields the
// name of what is wrong.
var invariants = []struct{ rule, query string }{
	{
		"an assimilated workunit has a canonical result or was given up",
		`SELECT name FROM workunit WHERE assimilate_state = 2 AND canonical_resultid = 0 AND error_mask = 0`,
	}, {
		"a canonical result is a valid success of its workunit",
		`SELECT w.name FROM workunit w LEFT JOIN result r ON r.id = w.canonical_resultid AND r.workunitid = w.id
		 WHERE w.canonical_resultid <> 0 AND (r.id IS NULL OR r.outcome <> 1 OR r.validate_state <> 1)`,
	}, {
		"input files go only when all results are over",
		`SELECT DISTINCT w.name FROM workunit w JOIN result r ON r.workunitid = w.id
		 WHERE w.file_delete_state <> 0 AND r.server_state <> 5`,
	}, {
		"an unfinished workunit will be looked at again",
		`SELECT name FROM workunit
		 WHERE canonical_resultid = 0 AND error_mask = 0 AND need_validate = 0 AND transition_time >= 253402300799`,
	}, {
		"a finished workunit is handed to the assimilator",
		`SELECT name FROM workunit
		 WHERE (canonical_resultid <> 0 OR error_mask <> 0) AND assimilate_state = 0 AND transition_time >= 253402300799`,
	}, {
		"results are inactive only while input files are awaited",
		`SELECT r.name FROM result r JOIN workunit w ON w.id = r.workunitid WHERE r.server_state = 1 AND w.awaiting = 0`,
	}, {
		"a workunit awaits files that are known, or its predecessor",
		`SELECT name FROM workunit w
		 WHERE awaiting = 1 AND predecessor_pending = 0 AND NOT EXISTS (SELECT 1 FROM awaited_file f WHERE f.workunitid = w.id)`,
	}, {
		"credit is granted for valid results only",
		`SELECT name FROM result WHERE granted_credit > 0 AND validate_state <> 1`,
	}, {
		"a user's credit is the sum of what the results were granted, those of old included",
		`SELECT u.email_addr
		 FROM   "user" u LEFT JOIN (SELECT userid, sum(granted_credit) AS granted FROM result GROUP BY userid) r ON r.userid = u.id
		 WHERE  abs(u.total_credit - u.purged_credit - COALESCE(r.granted, 0)) > 1e-6 * (1 + u.total_credit)`,
	}, {
		"a valid result belongs to a workunit with a canonical result",
		`SELECT r.name FROM result r JOIN workunit w ON w.id = r.workunitid
		 WHERE r.validate_state = 1 AND w.canonical_resultid = 0`,
	},
}

// Doctor returns what is wrong with the database's content, nothing if all is
// well. Of each kind it names a few rows.
func (t *Tx) Doctor() ([]string, error) {
	var out []string
	for _, inv := range invariants {
		names, err := all(t, scanString, inv.query+" LIMIT 5")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", inv.rule, err)
		}
		for _, n := range names {
			out = append(out, fmt.Sprintf("%s: not so for %s", inv.rule, n))
		}
	}
	return out, nil
}
