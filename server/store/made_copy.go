package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

var (
	wantCopy     = `INSERT INTO made_copy (name, host_id, create_time) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	wantedCopies = `SELECT DISTINCT name FROM made_copy WHERE name > $1 ORDER BY name LIMIT 0 + $2`
	needFile     = `
SELECT w.id FROM workunit_file f JOIN workunit w ON w.id = f.workunitid
WHERE  f.name = $1 AND w.id > $2 AND w.canonical_resultid = 0 AND w.error_mask = 0
ORDER  BY w.id LIMIT 0 + $3`
	redescribe = db.Update("workunit", "xml_doc = $2", "xml_doc = $3")

	orderedCopy = `o.name = $1 AND o.action = 'get' AND o.done_time = 0`
	endOrders   = db.Change(`
UPDATE host SET file_orders = file_orders - (SELECT count(*) FROM file_order o WHERE o.host_id = host.id AND ` + orderedCopy + `)
WHERE  id IN (SELECT host_id FROM made_copy WHERE name = $1)`)
	endCopyOrders = db.Change(`
UPDATE file_order AS o SET done_time = $2, status = 0
WHERE  ` + orderedCopy + ` AND o.host_id IN (SELECT host_id FROM made_copy WHERE name = $1)`)
	endCopy = db.Change(`DELETE FROM made_copy WHERE name = $1`)
)

// WantCopy notes that a file made on a host is to be published once the host has uploaded it, and
// returns whether that is new.
func (t *Tx) WantCopy(name string, hostID int64, now time.Time) (bool, error) {
	n, err := t.exec(wantCopy, name, hostID, unix(now))
	return n > 0, err
}

// WantedCopies returns the names above after of files of WantCopy.
func (t *View) WantedCopies(after string, limit int) ([]string, error) {
	return all(t, scanString, wantedCopies, after, limit)
}

// NeedFile returns the ids above after of unfinished workunits with a file among their input files.
func (t *View) NeedFile(name string, after int64, limit int) ([]int64, error) {
	return all(t, scanID, needFile, name, after, limit)
}

// Describe gives a workunit another description, or returns ErrLost if it is not as in old.
func (t *Tx) Describe(old Workunit, xmlDoc string) error {
	if err := t.execOne(redescribe, old.ID, xmlDoc, old.XMLDoc); err != nil {
		return fmt.Errorf("workunit %s: %w", old.Name, err)
	}
	return nil
}

// EndCopy ends the wait for a file of WantCopy, and the orders to upload it.
func (t *Tx) EndCopy(name string, now time.Time) error {
	if err := t.run(endOrders, name); err != nil {
		return err
	}
	if err := t.run(endCopyOrders, name, unix(now)); err != nil {
		return err
	}
	return t.run(endCopy, name)
}
