package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A MsgFromHost is a trickle-up message, from an application to the project while it ran.
type MsgFromHost struct {
	ID         int64     `db:"m.id"`
	CreateTime time.Time `db:"m.create_time"` // when it came
	HostID     int64     `db:"m.hostid"`
	ResultID   int64     `db:"m.resultid"`
	AppID      int64     `db:"m.appid"`
	ResultName string    `db:"m.result_name"`
	SentTime   time.Time `db:"m.sent_time"` // by the host's clock
	Variety    string    `db:"m.variety"`   // kind of message, as named by the application
	Handled    bool      `db:"m.handled"`
	XML        string    `db:"m.xml"` // the application's own words, not checked
}

const insertMsgFromHost = `
INSERT INTO msg_from_host (create_time, hostid, resultid, appid, result_name, sent_time, variety, xml)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING`

// AddMsgFromHost stores a message and returns whether it is new: the same one
// from the same host is kept once.
func (t *Tx) AddMsgFromHost(m MsgFromHost) (bool, error) {
	n, err := t.exec(insertMsgFromHost, unix(m.CreateTime), m.HostID, m.ResultID, m.AppID, m.ResultName,
		unix(m.SentTime), m.Variety, m.XML)
	if err != nil {
		return false, fmt.Errorf("message of result %s: %w", m.ResultName, err)
	}
	return n > 0, nil
}

const sizeOfMsgs = `SELECT count(*), COALESCE(sum(length(xml)), 0) FROM msg_from_host WHERE resultid = $1`

// SizeOfMsgs returns the number of messages of a result that are stored, and of their characters.
func (t *View) SizeOfMsgs(resultID int64) (n, size int64, err error) {
	_, err = one(t, func(r row) (struct{}, error) { return struct{}{}, r.Scan(&n, &size) }, sizeOfMsgs, resultID)
	return n, size, err
}

var msgFromHostColumns = db.ColumnsOf[MsgFromHost]()

var handledMsg = db.Update("msg_from_host", "handled = 1", "handled = 0")

var (
	msgsFromHost = `SELECT ` + msgFromHostColumns.List() + ` FROM msg_from_host m WHERE m.id > $1 ORDER BY m.id LIMIT 0 + $2`
	msgsToHandle = `
SELECT ` + msgFromHostColumns.List() + ` FROM msg_from_host m JOIN app a ON a.id = m.appid
WHERE  m.handled = 0 AND a.trickle <> '' AND m.id > $3 AND m.id % $1 = $2 ORDER BY m.id LIMIT 0 + $4`
)

// MsgsFromHost returns messages with ids above after, oldest first.
func (t *View) MsgsFromHost(after int64, limit int) ([]MsgFromHost, error) {
	return all(t, msgFromHostColumns.Scan, msgsFromHost, after, limit)
}

// MsgsToHandle returns messages for the handlers of their applications, with ids above after.
// Messages of applications without a handler wait.
func (t *View) MsgsToHandle(after int64, limit int) ([]MsgFromHost, error) {
	return all(t, msgFromHostColumns.Scan, msgsToHandle, append(t.shard.args(), after, limit)...)
}

// MsgHandled notes that a message was handled, or returns ErrLost if it was
// before.
func (t *Tx) MsgHandled(id int64) error { return t.execOne(handledMsg, id) }

const (
	purgeMsgsFromHost = `DELETE FROM msg_from_host WHERE handled = 1 AND create_time < $1`
	purgeMsgsToHost   = `DELETE FROM msg_to_host WHERE handled = 1 AND create_time < $1`
)

// PurgeMsgs deletes messages, both ways, that came before a time and were handled
// or sent, and returns how many. An upward message that is repeated after that
// counts as new.
func (t *Tx) PurgeMsgs(before time.Time) (int64, error) {
	up, err := t.exec(purgeMsgsFromHost, unix(before))
	if err != nil {
		return 0, err
	}
	down, err := t.exec(purgeMsgsToHost, unix(before))
	return up + down, err
}

// A MsgToHost is a trickle-down message, from the project to an application while it runs.
type MsgToHost struct {
	ID         int64     `db:"id"`
	CreateTime time.Time `db:"create_time"`
	HostID     int64     `db:"hostid"`
	ResultID   int64     `db:"resultid"`
	ResultName string    `db:"result_name"`
	XML        string    `db:"xml"`
}

var msgToHostColumns = db.ColumnsOf[MsgToHost]()

var insertMsgToHost = msgToHostColumns.InsertInto("msg_to_host", "create_time, hostid, resultid, result_name, xml")

// AddMsgToHost stores a message for a host and returns its id.
func (t *Tx) AddMsgToHost(m MsgToHost) (int64, error) {
	return t.insert(insertMsgToHost.Statement, insertMsgToHost.Args(&m)...)
}

var (
	msgsToHost = `
SELECT ` + msgToHostColumns.List() + ` FROM msg_to_host
WHERE  hostid = $1 AND handled = 0 ORDER BY id LIMIT 0 + $2`
	hostsWithMsgs = byID(`SELECT DISTINCT hostid FROM msg_to_host WHERE hostid`, ` AND handled = 0`)
	sentMsg       = db.Update("msg_to_host", "handled = 1", "handled = 0")
)

// MsgsToHost returns messages that a host has not been sent, oldest first.
func (t *View) MsgsToHost(hostID int64, limit int) ([]MsgToHost, error) {
	return all(t, msgToHostColumns.Scan, msgsToHost, hostID, limit)
}

// HostsWithMsgs asks for which hosts of a list there are messages that were not sent.
func HostsWithMsgs(hosts []int64, found func(host int64)) Question {
	return withIDs(hostsWithMsgs, hosts, scanID, found)
}

// MsgSent notes that a message was sent, or returns ErrLost if it was before.
func (t *Tx) MsgSent(id int64) error { return t.execOne(sentMsg, id) }
