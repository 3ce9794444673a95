package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Violation is something that should always hold and does not.
type Violation struct {
	Rule  string   `json:"rule"`  // what should hold
	Count int      `json:"count"` // of the rows for which it does not
	Rows  []string `json:"rows"`  // the names of some of them
	Mend  string   `json:"mend"`  // the cure, for the operator

	Advice bool `json:"advice,omitempty"` // the records are correct, and Rows has a sentence
	Damage bool `json:"-"`                // the database cannot be read completely, so further checks are pointless
}

// String returns a line for logs, without the cure.
func (v Violation) String() string {
	more := ""
	if v.Count > len(v.Rows) {
		more = ", …"
	}
	return fmt.Sprintf("%s: violated by %d: %s%s", v.Rule, v.Count, strings.Join(v.Rows, ", "), more)
}

// How violations are mended.
const (
	byLook   = "starling-server doctor DIR --mend: the transitioner looks at it again"
	bySum    = "starling-server doctor DIR --mend: the sum is recomputed"
	byGuard  = "starling-server doctor DIR --mend: they are created again when the project is next opened"
	byHand   = "Starling cannot cause or repair this; see the row's history with `show`, then correct it with the database's own tools or restore a backup"
	byRefs   = "rows were deleted with other tools: restore a backup, or delete those that refer to them, too"
	byBackup = "stop the server, keep a copy of project.db, and restore a backup"
	byOwner  = "cancel it with starling-server work cancel DIR --name NAME, then create it again"
)

// An invariant is a rule for all rows, with a query for the rows that break it. The query returns a
// name and the workunit's id.
type invariant struct{ rule, query, mend string }

const never = "253402300799"

var invariants = append(countsHold(), []invariant{
	{
		"an assimilated workunit has a canonical result or was given up",
		`SELECT name, id FROM workunit WHERE assimilate_state = 2 AND canonical_resultid = 0 AND error_mask = 0`, byOwner,
	}, {
		"a canonical result is a valid success of its workunit",
		`SELECT w.name, w.id FROM workunit w LEFT JOIN result r ON r.id = w.canonical_resultid AND r.workunitid = w.id
		 WHERE w.canonical_resultid <> 0 AND (r.id IS NULL OR r.outcome <> 1 OR r.validate_state <> 1)`, byHand,
	}, {
		"a valid result belongs to a workunit with a canonical result",
		`SELECT r.name, w.id FROM result r JOIN workunit w ON w.id = r.workunitid
		 WHERE r.validate_state = 1 AND w.canonical_resultid = 0`, byHand,
	}, {
		"input files are deleted only when all results are over",
		`SELECT w.name, w.id FROM workunit w
		 WHERE w.file_delete_state <> 0 AND EXISTS (SELECT 1 FROM result r WHERE r.workunitid = w.id AND r.server_state <> 5)`, byHand,
	}, {
		"a sent result belongs to a computer",
		`SELECT r.name, r.workunitid FROM result r
		 WHERE (r.server_state = 4 OR r.hostid <> 0) AND NOT EXISTS (SELECT 1 FROM host h WHERE h.id = r.hostid)`, byRefs,
	}, {
		"no row refers to a missing one",
		`SELECT r.name, r.workunitid FROM result r LEFT JOIN workunit w ON w.id = r.workunitid WHERE w.id IS NULL
		 UNION ALL SELECT w.name, w.id FROM workunit w LEFT JOIN app a ON a.id = w.appid WHERE a.id IS NULL
		 UNION ALL SELECT 'app version ' || v.id, v.id FROM app_version v LEFT JOIN app a ON a.id = v.appid WHERE a.id IS NULL
		 UNION ALL SELECT 'computer ' || h.id, h.id FROM host h LEFT JOIN "user" u ON u.id = h.userid WHERE u.id IS NULL AND h.userid <> 0
		 UNION ALL SELECT w.name, w.id FROM workunit w LEFT JOIN api_batch b ON b.id = w.batch - 1000000000 WHERE w.tokenid <> 0 AND b.id IS NULL`, byRefs,
	}, {
		"an unfinished workunit has its next check scheduled",
		`SELECT name, id FROM workunit
		 WHERE canonical_resultid = 0 AND error_mask = 0 AND need_validate = 0 AND transition_time >= ` + never, byLook,
	}, {
		"a result in progress is checked within a day after its deadline",
		`SELECT r.name, w.id FROM result r JOIN workunit w ON w.id = r.workunitid
		 WHERE r.server_state = 4 AND w.transition_time > r.report_deadline + 86400`, byLook,
	}, {
		"a workunit with an outcome has no unsent results",
		`SELECT r.name, w.id FROM result r JOIN workunit w ON w.id = r.workunitid
		 WHERE r.server_state IN (1, 2) AND (w.canonical_resultid <> 0 OR w.error_mask <> 0) AND w.transition_time >= ` + never, byLook,
	}, {
		"a finished workunit is assimilated when all its results are over",
		`SELECT w.name, w.id FROM workunit w
		 WHERE (w.canonical_resultid <> 0 OR w.error_mask <> 0) AND w.assimilate_state = 0 AND w.need_validate = 0
		   AND w.transition_time >= ` + never, byLook,
	}, {
		"the input files of an assimilated workunit are deleted",
		`SELECT name, id FROM workunit
		 WHERE assimilate_state = 2 AND file_delete_state = 0 AND need_validate = 0 AND transition_time >= ` + never, byLook,
	}, {
		"the output files of an assimilated workunit are deleted",
		`SELECT r.name, w.id FROM result r JOIN workunit w ON w.id = r.workunitid
		 WHERE w.assimilate_state = 2 AND w.file_delete_state <> 0 AND w.need_validate = 0 AND w.transition_time >= ` + never + `
		   AND r.file_delete_state = 0 AND r.outcome IN (1, 3, 4, 6, 7)`, byLook,
	}, {
		"results are inactive only while their workunit waits for something",
		`SELECT r.name, w.id FROM result r JOIN workunit w ON w.id = r.workunitid
		 WHERE r.server_state = 1 AND w.awaiting = 0`, byOwner,
	}, {
		"a workunit waits only for known files, outputs or its predecessor",
		`SELECT name, id FROM workunit w
		 WHERE awaiting = 1 AND predecessor_pending = 0 AND NOT EXISTS (SELECT 1 FROM awaited_file f WHERE f.workunitid = w.id)
		   AND NOT EXISTS (SELECT 1 FROM awaited_output o WHERE o.workunitid = w.id)`, byOwner,
	}, {
		"credit is granted for valid results only",
		`SELECT name, workunitid FROM result WHERE granted_credit > 0 AND validate_state <> 1`, byHand,
	}, {
		"a user's credit is the sum of the credit granted to results, purged ones included",
		`SELECT u.email_addr, 0
		 FROM   "user" u LEFT JOIN (SELECT userid, sum(granted_credit) AS granted FROM result GROUP BY userid) r ON r.userid = u.id
		 WHERE  abs(u.total_credit - u.purged_credit - COALESCE(r.granted, 0)) > 1e-6 * (1 + u.total_credit)`, bySum,
	},
}...)

// countsHold returns the invariants of the counts that triggers maintain.
func countsHold() (out []invariant) {
	for _, s := range tallies {
		out = append(out, invariant{"the count of " + s.about + " matches the rows", s.wrong(), bySum})
	}
	return append(out, tokensHold...)
}

// A Check looks whether one thing that should always hold does.
type Check struct {
	Rule string
	Look func(t *View) ([]Violation, error)
}

// Checks returns all checks of a database's content. Each reads whole tables. It may run at any
// time and in its own transaction, so that no transaction lasts as long as all checks.
func Checks() []Check {
	checks := []Check{{"the database file is intact", (*View).intact}}
	for _, inv := range invariants {
		checks = append(checks, Check{inv.rule, inv.look})
	}
	return append(checks, Check{"a trigger refuses illegal moves in each table", (*View).unguarded})
}

// Doctor returns the violations in the database's content, none if all is well.
func (t *View) Doctor() (wrong []Violation, err error) {
	for _, c := range Checks() {
		found, err := c.Look(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Rule, err)
		}
		if wrong = append(wrong, found...); len(found) > 0 && found[0].Damage {
			break
		}
	}
	return wrong, nil
}

func (t *View) intact() ([]Violation, error) {
	damage, err := t.db.Damage()
	if err != nil || len(damage) == 0 {
		return nil, err
	}
	return []Violation{{Rule: "the database file is intact", Count: len(damage), Rows: damage, Mend: byBackup, Damage: true}}, nil
}

func (inv invariant) look(t *View) ([]Violation, error) {
	n, err := one(t, scanID, `SELECT count(*) FROM (`+inv.query+`) AS q`)
	if err != nil || n == 0 {
		return nil, err
	}
	rows, err := all(t, scanName, inv.query+` ORDER BY 2 LIMIT 5`)
	return []Violation{{Rule: inv.rule, Count: int(n), Rows: rows, Mend: inv.mend}}, err
}

func (t *View) unguarded() ([]Violation, error) {
	tables, err := t.guarded()
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	return []Violation{{Rule: "a trigger refuses illegal moves in each table", Count: len(tables), Rows: tables, Mend: byGuard}}, nil
}

func scanName(r row) (name string, err error) {
	var id int64
	return name, r.Scan(&name, &id)
}

// guarded returns the tables whose trigger is missing.
func (t *View) guarded() (missing []string, err error) {
	for _, g := range guards() {
		there, err := t.db.HasTrigger(g.table + "_moves")
		if err != nil {
			return nil, err
		}
		if !there {
			missing = append(missing, g.table)
		}
	}
	return missing, nil
}

var creditAnew = db.Change(`
UPDATE "user"
SET    total_credit = purged_credit + (SELECT COALESCE(sum(granted_credit), 0) FROM result WHERE userid = "user".id)
WHERE  abs(total_credit - purged_credit - (SELECT COALESCE(sum(granted_credit), 0) FROM result WHERE userid = "user".id))
       > 1e-6 * (1 + total_credit)`)

// Mend repairs the violations of Doctor that it can repair. Workunits keep their outcomes, and
// files are not deleted.
func (t *Tx) Mend(now time.Time) error {
	for _, inv := range invariants {
		if inv.mend != byLook {
			continue
		}
		ids, err := all(t.View, func(r row) (id int64, err error) {
			var name string
			return id, r.Scan(&name, &id)
		}, inv.query)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := t.TransitionBy(id, now); err != nil {
				return err
			}
		}
	}
	if err := t.run(creditAnew); err != nil {
		return err
	}
	if err := t.countAnew(); err != nil {
		return err
	}
	if err := t.countTokens(); err != nil {
		return err
	}
	missing, err := t.guarded()
	if err != nil || len(missing) == 0 {
		return err
	}
	return t.run(db.Change("DELETE FROM legal_moves"))
}
