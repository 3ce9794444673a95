package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// TokenDays is the number of days, the current one included, whose computing time counts against the
// limit of a token. A day is one of UTC.
const TokenDays = 30

// keptDays is the number of days for which computing time is stored, so that doctor can compare it.
const keptDays = 2 * TokenDays

const secondsOfDay = 86400

// A TokenDay is the computing time of a token's results that were reported on a day. A result counts
// once it is validated, or has failed.
type TokenDay struct {
	TokenID      int64   `db:"tokenid"`
	Day          int64   `db:"day"`           // since 1970
	CPUTime      float64 `db:"cpu_time"`      // seconds
	ElapsedTime  float64 `db:"elapsed_time"`  // seconds
	ExpectedTime float64 `db:"expected_time"` // seconds that the estimates of the workunits predicted
}

// DayOf returns the day of a time, as in TokenDay.
func DayOf(t time.Time) int64 { return t.Unix() / secondsOfDay }

// DayTime returns the time when a day begins.
func DayTime(day int64) time.Time { return time.Unix(day*secondsOfDay, 0) }

// used has the columns that a result adds to its token's day. A computer reports the CPU time, so at most
// a thousand CPUs count. An estimate counts as at least a second, as when work is charged to a token.
const (
	used = `w.tokenid, ROW.received_time / 86400 AS day,
       CASE WHEN ROW.cpu_time > 1000 * ROW.elapsed_time THEN 1000 * ROW.elapsed_time ELSE ROW.cpu_time END AS cpu_time, ROW.elapsed_time,
       CASE WHEN ROW.flops_estimate > w.rsc_fpops_est THEN 1 WHEN ROW.flops_estimate > 0 THEN w.rsc_fpops_est / ROW.flops_estimate ELSE ROW.elapsed_time END AS expected_time`
	isUsed = `ROW.batch > 1000000000 AND ROW.cpu_time > 0 AND (ROW.validate_state <> 0 OR ROW.file_delete_state <> 0 OR ROW.server_state = 5 AND ROW.outcome <> 1)`
)

// tokenTriggers count the computing time of tokens and the bytes of their files. The validator and the
// transitioner set the state of a success, so the first count hardly ever makes schedulers wait for each
// other: only failures, and a result that is reported after its workunit is done, count at once. If an
// operator tries a workunit again, its results may wait for the validator once more, and count then.
func tokenTriggers() []countTrigger {
	use := func(row, sign string) string {
		return of(row, `INSERT INTO token_use (tokenid, day, cpu_time, elapsed_time, expected_time)
SELECT q.tokenid, q.day, `+sign+` q.cpu_time, `+sign+` q.elapsed_time, `+sign+` q.expected_time
FROM   (SELECT `+used+` FROM workunit w WHERE w.id = ROW.workunitid AND w.tokenid <> 0) AS q WHERE 1 = 1
ON CONFLICT (tokenid, day) DO UPDATE SET cpu_time = token_use.cpu_time + excluded.cpu_time,
       elapsed_time = token_use.elapsed_time + excluded.elapsed_time, expected_time = token_use.expected_time + excluded.expected_time`)
	}
	const changes = "UPDATE OF server_state, outcome, validate_state, file_delete_state, cpu_time"
	bytes := func(token, n string) string {
		return fmt.Sprintf("INSERT INTO token_bytes (tokenid, total) VALUES (%s, %s) ON CONFLICT (tokenid) DO UPDATE SET total = token_bytes.total + excluded.total", token, n)
	}
	return []countTrigger{
		{"result", "result_token_use", changes, of("NEW", isUsed) + " AND NOT (" + of("OLD", isUsed) + ")", use("NEW", "+"), ""},
		{"result", "result_token_use_again", changes, of("OLD", isUsed) + " AND NOT (" + of("NEW", isUsed) + ")", use("OLD", "-"), ""},
		{"token_file", "token_file_insert", "INSERT", "NEW.nbytes <> 0", bytes("NEW.tokenid", "NEW.nbytes"), ""},
		{"token_file", "token_file_delete", "DELETE", "OLD.nbytes <> 0", bytes("OLD.tokenid", "-OLD.nbytes"), ""},
		{"token_file", "token_file_update", "UPDATE OF nbytes", "NEW.nbytes <> OLD.nbytes", bytes("NEW.tokenid", "NEW.nbytes - OLD.nbytes"), ""},
	}
}

// Invariants of the counts. Results of days that are not stored any more do not matter.
var (
	uncounted = `SELECT c.tokenid, c.day, c.cpu_time, c.elapsed_time, c.expected_time
FROM   (SELECT tokenid, day, sum(cpu_time) AS cpu_time, sum(elapsed_time) AS elapsed_time, sum(expected_time) AS expected_time
        FROM   (SELECT ` + of("r", used) + ` FROM result r JOIN workunit w ON w.id = r.workunitid WHERE ` + of("r", isUsed) + ` AND w.tokenid <> 0) AS each_result
        GROUP  BY tokenid, day) AS c
LEFT   JOIN token_use u ON u.tokenid = c.tokenid AND u.day = c.day
WHERE  c.day > COALESCE((SELECT max(day) FROM token_use), 0) - ` + fmt.Sprint(TokenDays) + `
  AND  COALESCE(u.cpu_time, 0) < c.cpu_time - 1e-6 * (1 + c.cpu_time)`
	tokensHold = []invariant{
		{
			"the computing time of a token has that of its finished results",
			`SELECT t.name, 0 FROM token t WHERE t.id IN (SELECT tokenid FROM (` + uncounted + `) AS q)`, bySum,
		}, {
			"the bytes of a token are the sum of its files",
			`SELECT t.name, 0 FROM token t
WHERE  COALESCE((SELECT total FROM token_bytes b WHERE b.tokenid = t.id), 0) <> COALESCE((SELECT sum(nbytes) FROM token_file f WHERE f.tokenid = t.id), 0)`, bySum,
		},
	}
	countUse = []*db.Statement{
		db.Change(`INSERT INTO token_use (tokenid, day, cpu_time, elapsed_time, expected_time) ` + uncounted + `
ON CONFLICT (tokenid, day) DO UPDATE SET cpu_time = excluded.cpu_time, elapsed_time = excluded.elapsed_time, expected_time = excluded.expected_time`),
		db.Change(`DELETE FROM token_bytes`),
		db.Change(`INSERT INTO token_bytes (tokenid, total) SELECT tokenid, sum(nbytes) FROM token_file GROUP BY tokenid`),
	}
)

// countTokens corrects the counts of the triggers.
func (t *Tx) countTokens() error {
	for _, s := range countUse {
		if err := t.run(s); err != nil {
			return err
		}
	}
	return nil
}

var (
	dayColumns  = db.ColumnsOf[TokenDay]()
	tokenDays   = `SELECT ` + dayColumns.List() + ` FROM token_use WHERE day > $1 ORDER BY tokenid, day`
	daysOfToken = `SELECT ` + dayColumns.List() + ` FROM token_use WHERE tokenid = $2 AND day > $1 ORDER BY day`
	tokenBytes  = `SELECT COALESCE((SELECT total FROM token_bytes WHERE tokenid = $1), 0)`
	tokenFile   = `SELECT nbytes FROM token_file WHERE tokenid = $1 AND batch = 0 AND name = $2`
)

var (
	keepFile = db.InsertIfMissing("token_file", "tokenid, batch, name, nbytes")
	setFile  = db.Change(`INSERT INTO token_file (tokenid, batch, name, nbytes) VALUES ($1, $2, $3, $4)
ON CONFLICT (tokenid, batch, name) DO UPDATE SET nbytes = excluded.nbytes`)
	keepOutput = db.Change(`INSERT INTO token_file (tokenid, batch, name, nbytes) VALUES ($1, $2, '', $3)
ON CONFLICT (tokenid, batch, name) DO UPDATE SET nbytes = token_file.nbytes + excluded.nbytes`)
	dropFiles  = db.Change(`DELETE FROM token_file WHERE batch = 0 AND name IN ` + names)
	dropOutput = db.Change(`DELETE FROM token_file WHERE batch = $1 AND tokenid = (SELECT tokenid FROM api_batch WHERE id = $1)`)
	forgetUse  = db.Change(`DELETE FROM token_use WHERE day <= $1`)
)

// TokenDays returns the computing time of a token (0: of each) in the last TokenDays days, by token
// and day.
func (t *View) TokenDays(id int64, now time.Time) ([]TokenDay, error) {
	after := DayOf(now) - TokenDays
	if id == 0 {
		return all(t, dayColumns.Scan, tokenDays, after)
	}
	return all(t, dayColumns.Scan, daysOfToken, after, id)
}

// TokenBytes returns the bytes that the project stores for a token.
func (t *View) TokenBytes(id int64) (int64, error) { return one(t, scanID, tokenBytes, id) }

// TokenFile returns the bytes that an input file counts for a token, 0 if it does not count.
func (t *View) TokenFile(id int64, name string) (int64, error) {
	n, err := one(t, scanID, tokenFile, id, name)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return n, err
}

// KeepFile counts an input file for a token, unless it is counted already.
func (t *Tx) KeepFile(tokenID int64, name string, nbytes int64) error {
	return t.run(keepFile, tokenID, 0, name, nbytes)
}

// SetFile counts an input file for a token, with other bytes than before if it is counted already.
func (t *Tx) SetFile(tokenID int64, name string, nbytes int64) error {
	return t.run(setFile, tokenID, 0, name, nbytes)
}

// KeepOutput adds to the bytes of the output of a token's batch, which is given by its Number.
func (t *Tx) KeepOutput(tokenID, number, nbytes int64) error {
	return t.run(keepOutput, tokenID, number-firstAPIBatch, nbytes)
}

// DropFiles notes that input files are deleted.
func (t *Tx) DropFiles(list []string) error {
	if len(list) == 0 {
		return nil
	}
	return t.run(dropFiles, jsonTexts(list))
}

// ForgetTokenDays deletes computing time that does not count any more at now.
func (t *Tx) ForgetTokenDays(now time.Time) error { return t.run(forgetUse, DayOf(now)-keptDays) }
