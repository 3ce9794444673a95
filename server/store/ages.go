package store

import "fmt"

// waits are queries for the earliest Unix time since which something of each kind waits, or 0 if
// nothing waits. Work for a daemon waits since its last result was reported.
var waits = []struct{ what, query string }{
	{"unsent", unsentSince},
	{"transition_due", `SELECT COALESCE(min(transition_time), 0) FROM workunit WHERE transition_time < 253402300799`},
	{"need_validate", waitingSince(`need_validate = 1`)},
	{"waiting_assimilation", waitingSince(`assimilate_state = 1`)},
	{"waiting_file_deletion", waitingSince(`file_delete_state = 1`)},
}

// Results have the order in which they were made. Only those in progress are passed over.
const unsentSince = `
SELECT COALESCE((SELECT create_time FROM result WHERE server_state + 0 < 5 AND +server_state = 2 ORDER BY id LIMIT 1), 0)`

func waitingSince(condition string) string {
	return `
SELECT COALESCE(min(CASE WHEN came > made THEN came ELSE made END), 0)
FROM  (SELECT w.create_time AS made, COALESCE(max(r.received_time), 0) AS came
       FROM workunit w LEFT JOIN result r ON r.workunitid = w.id
       WHERE w.` + condition + ` GROUP BY w.id, w.create_time) AS t`
}

// ages returns for how many seconds the oldest of each kind has waited at now.
func (t *View) ages(now int64) (map[string]int64, error) {
	m := make(map[string]int64, len(waits))
	for _, w := range waits {
		since, err := one(t, scanID, w.query)
		if err != nil {
			return nil, fmt.Errorf("age of %s: %w", w.what, err)
		}
		m[w.what] = 0
		if since > 0 {
			m[w.what] = max(0, now-since)
		}
	}
	return m, nil
}
