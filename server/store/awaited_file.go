package store

import (
	"fmt"

	"github.com/starling-grid/starling/server/db"
)

var (
	insertAwaited = db.Insert("awaited_file", "workunitid, name")
	awaitedFiles  = `SELECT DISTINCT name FROM awaited_file WHERE name > $1 ORDER BY name LIMIT 0 + $2`
	awaitedBy     = `SELECT workunitid FROM awaited_file WHERE name = $1 ORDER BY workunitid LIMIT 0 + $2`
	awaitedOf     = `SELECT name FROM awaited_file WHERE workunitid = $1 ORDER BY name`
	arrivedFile   = db.Change(`DELETE FROM awaited_file WHERE workunitid = $1 AND name = $2`)
	countAwaited  = `
SELECT count(*) + (SELECT predecessor_pending FROM workunit WHERE id = $1) + (SELECT count(*) FROM awaited_output WHERE workunitid = $1)
FROM   awaited_file WHERE workunitid = $1`
	describeInput = db.Update("workunit", "xml_doc = $2, awaiting = $3", "xml_doc = $4 AND awaiting = 1")
)

// AwaitFile notes that a workunit, which was inserted as Awaiting, needs a file
// that is not there yet.
func (t *Tx) AwaitFile(workunitID int64, name string) error {
	if err := t.run(insertAwaited, workunitID, name); err != nil {
		return fmt.Errorf("awaited file %s: %w", name, err)
	}
	return nil
}

// AwaitedFiles returns the names above after of files that workunits wait for.
func (t *View) AwaitedFiles(after string, limit int) ([]string, error) {
	return all(t, scanString, awaitedFiles, after, limit)
}

// AwaitedFilesOf returns the names of files that a workunit waits for.
func (t *View) AwaitedFilesOf(id int64) ([]string, error) { return all(t, scanString, awaitedOf, id) }

// AwaitedBy returns workunits that wait for a file.
func (t *View) AwaitedBy(name string, limit int) ([]int64, error) {
	return all(t, scanID, awaitedBy, name, limit)
}

// FileArrived stores a workunit's description, which is now complete for a file that the workunit
// waited for. It returns whether that was the last such file, which ends Awaiting. It returns
// ErrLost if the workunit differs from old.
func (t *Tx) FileArrived(old Workunit, name, xmlDoc string) (last bool, err error) {
	if err := t.execOne(arrivedFile, old.ID, name); err != nil {
		return false, fmt.Errorf("workunit %s: file %s: %w", old.Name, name, err)
	}
	return t.cameIn(old, xmlDoc)
}

// cameIn stores a workunit's description, and whether the workunit still waits for something.
func (t *Tx) cameIn(old Workunit, xmlDoc string) (last bool, err error) {
	n, err := one(t.View, scanID, countAwaited, old.ID)
	if err != nil {
		return false, err
	}
	if err := t.execOne(describeInput, old.ID, xmlDoc, flag(n > 0).Int(), old.XMLDoc); err != nil {
		return false, fmt.Errorf("workunit %s: %w", old.Name, err)
	}
	return n == 0, nil
}
