package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A HostFile is a sticky file that a host has.
type HostFile struct {
	HostID int64   `db:"host_id"`
	Name   string  `db:"name"`
	NBytes float64 `db:"nbytes"`
}

var (
	hostFileColumns = db.ColumnsOf[HostFile]()
	forgetHostFiles = db.Change(`DELETE FROM host_file WHERE host_id = $1`)
	insertHostFile  = db.InsertIfMissing("host_file", "host_id, name, nbytes")
	hostFiles       = `SELECT ` + hostFileColumns.List() + ` FROM host_file WHERE host_id = $1 ORDER BY name`
	heardOfFile     = `SELECT COALESCE(MAX(h.rpc_time), 0) FROM host_file f JOIN host h ON h.id = f.host_id WHERE f.name = $1`
	allHostFiles    = `SELECT ` + hostFileColumns.List() + ` FROM host_file ORDER BY host_id, name`
)

// SetHostFiles replaces the list of a host's sticky files.
func (t *Tx) SetHostFiles(hostID int64, files []HostFile) error {
	if err := t.run(forgetHostFiles, hostID); err != nil {
		return err
	}
	for _, f := range files {
		if err := t.run(insertHostFile, hostID, f.Name, f.NBytes); err != nil {
			return fmt.Errorf("file %s of host %d: %w", f.Name, hostID, err)
		}
	}
	return nil
}

// HostFiles returns the sticky files of a host, or of all hosts if hostID is 0.
func (t *View) HostFiles(hostID int64) ([]HostFile, error) {
	if hostID == 0 {
		return all(t, hostFileColumns.Scan, allHostFiles)
	}
	return all(t, hostFileColumns.Scan, hostFiles, hostID)
}

// HeardOfFile returns the time of the last request of a host that has a file, or the zero time if
// all hosts lack it.
func (t *View) HeardOfFile(name string) (time.Time, error) {
	return one(t, func(r row) (at time.Time, err error) {
		err = r.Scan((*unix)(&at))
		return at, err
	}, heardOfFile, name)
}

// A FileOrder is an order to a host about a file that does not belong to a result.
type FileOrder struct {
	ID         int64      `db:"id"`
	CreateTime time.Time  `db:"create_time"`
	HostID     int64      `db:"host_id"`
	Action     FileAction `db:"action"`
	Name       string     `db:"name"`
	XML        string     `db:"xml"`       // its file_info ("" for FileDelete)
	DoneTime   time.Time  `db:"done_time"` // zero: not yet
	Status     int64      `db:"status"`    // BOINC's error number if the host could not do it, by its last report on the file, else 0
}

// A FileAction is the action that a FileOrder demands.
type FileAction string

const (
	FilePut    FileAction = "put"    // fetch it, unless it is there, and keep it
	FileGet    FileAction = "get"    // upload it
	FileDelete FileAction = "delete" // keep it no longer
)

var (
	fileOrderColumns = db.ColumnsOf[FileOrder]()
	insertFileOrder  = fileOrderColumns.InsertInto("file_order", "create_time, host_id, action, name, xml")
	addFileOrders    = db.Update("host", "file_orders = file_orders + $2")
	replaceOrders    = `UPDATE file_order SET done_time = $3 WHERE host_id = $1 AND name = $2 AND done_time = 0`
	fileOrderDone    = db.Update("file_order", "done_time = $2, status = 0", "done_time = 0")
	fileOrderFails   = db.Update("file_order", "status = $2", "done_time = 0")

	fileOrders    = `SELECT ` + fileOrderColumns.List() + ` FROM file_order WHERE host_id = $1 AND done_time = 0 ORDER BY id LIMIT 0 + $2`
	allFileOrders = `SELECT ` + fileOrderColumns.List() + ` FROM file_order WHERE id > $1 ORDER BY id LIMIT 0 + $2`
)

// AddFileOrder adds an order for a host and returns its id. It replaces an open order for the same
// file.
func (t *Tx) AddFileOrder(o FileOrder) (int64, error) {
	replaced, err := t.exec(replaceOrders, o.HostID, o.Name, unix(o.CreateTime))
	if err != nil {
		return 0, err
	}
	if err := t.execOne(addFileOrders, o.HostID, 1-replaced); err != nil {
		return 0, fmt.Errorf("host %d: %w", o.HostID, ErrNotFound)
	}
	return t.insert(insertFileOrder.Statement, insertFileOrder.Args(&o)...)
}

// FileOrders returns the open orders of a host, oldest first.
func (t *View) FileOrders(hostID int64, limit int) ([]FileOrder, error) {
	return all(t, fileOrderColumns.Scan, fileOrders, hostID, limit)
}

// AllFileOrders returns orders with ids above after, done ones included.
func (t *View) AllFileOrders(after int64, limit int) ([]FileOrder, error) {
	return all(t, fileOrderColumns.Scan, allFileOrders, after, limit)
}

// FileOrderDone notes that a host has done an order, or returns ErrLost if that was
// noted before.
func (t *Tx) FileOrderDone(o FileOrder, now time.Time) error {
	if err := t.execOne(fileOrderDone, o.ID, unix(now)); err != nil {
		return err
	}
	return t.execOne(addFileOrders, o.HostID, -1)
}

// FileOrderFails stores the error number of an open order that a host could not carry out, or 0
// when the host stops reporting an error.
func (t *Tx) FileOrderFails(id, status int64) error { return t.run(fileOrderFails, id, status) }
