package store

import (
	"fmt"

	"github.com/starling-grid/starling/server/db"
)

// An AwaitedOutput is an output of a workunit for which another one waits.
type AwaitedOutput struct {
	WorkunitID  int64  `db:"workunitid"` // of the one that waits
	Predecessor int64  `db:"predecessor"`
	Output      string `db:"output"` // logical name ("": it only waits for the outcome)
	Name        string `db:"name"`   // of the input file that the output becomes ("": likewise)
}

var awaitedOutputColumns = db.ColumnsOf[AwaitedOutput]()

// stillAwaited is true of rows whose workunit was not given up.
const stillAwaited = `EXISTS (SELECT 1 FROM workunit w WHERE w.id = awaited_output.workunitid AND w.error_mask = 0)`

var (
	insertAwaitedOutput = awaitedOutputColumns.InsertInto("awaited_output", "workunitid, predecessor, output, name")
	readyOutputs        = db.Change(`UPDATE awaited_output SET ready = $2 WHERE predecessor = $1`)
	outputsToPass       = `
SELECT ` + awaitedOutputColumns.List() + ` FROM awaited_output
WHERE  ready = 1 AND (workunitid, predecessor, output) > ($1, $2, $3) AND ` + stillAwaited + `
ORDER  BY workunitid, predecessor, output LIMIT 0 + $4`
	awaitedOutputsOf = `SELECT ` + awaitedOutputColumns.List() + ` FROM awaited_output WHERE workunitid = $1 ORDER BY predecessor, output`
	outputCame       = db.Change(`DELETE FROM awaited_output WHERE workunitid = $1 AND predecessor = $2 AND output = $3`)
)

// AwaitOutput notes that a workunit, which was inserted as Awaiting, needs an output of another.
func (t *Tx) AwaitOutput(o AwaitedOutput) error {
	if err := t.run(insertAwaitedOutput.Statement, insertAwaitedOutput.Args(&o)...); err != nil {
		return fmt.Errorf("output %s of workunit %d: %w", o.Output, o.Predecessor, err)
	}
	return nil
}

// ReadyOutputs notes whether a workunit has its outcome, for which others wait.
func (t *Tx) ReadyOutputs(predecessor int64, ready bool) error {
	return t.run(readyOutputs, predecessor, flag(ready).Int())
}

// OutputsToPass returns awaited outputs whose workunits have an outcome, after one of them, in order.
func (t *View) OutputsToPass(after AwaitedOutput, limit int) ([]AwaitedOutput, error) {
	return all(t, awaitedOutputColumns.Scan, outputsToPass, after.WorkunitID, after.Predecessor, after.Output, limit)
}

// AwaitedOutputsOf returns the outputs that a workunit waits for.
func (t *View) AwaitedOutputsOf(id int64) ([]AwaitedOutput, error) {
	return all(t, awaitedOutputColumns.Scan, awaitedOutputsOf, id)
}

// OutputCame is FileArrived for an output of another workunit.
func (t *Tx) OutputCame(old Workunit, o AwaitedOutput, xmlDoc string) (last bool, err error) {
	if err := t.execOne(outputCame, o.WorkunitID, o.Predecessor, o.Output); err != nil {
		return false, fmt.Errorf("workunit %s: output %s: %w", old.Name, o.Output, err)
	}
	return t.cameIn(old, xmlDoc)
}
