package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// An AuditEntry is the record of an operator's action.
type AuditEntry struct {
	ID         int64     `json:"id" db:"id"`
	CreateTime time.Time `json:"create_time" db:"create_time"`
	Actor      string    `json:"actor" db:"actor"`           // user of the operating system, or account
	Via        string    `json:"via" db:"via"`               // "command", or "page" of the console
	Action     string    `json:"action" db:"action"`         // such as "work cancel"
	Detail     string    `json:"detail" db:"detail"`         // to what, and how
	Error      string    `json:"error,omitempty" db:"error"` // "": it was done
}

// maxAudit bounds each text of an entry, bytes.
const maxAudit = 4000

var (
	auditColumns = db.ColumnsOf[AuditEntry]()
	insertAudit  = auditColumns.InsertInto("audit", "create_time, actor, via, action, detail, error")
	listAudit    = `
SELECT ` + auditColumns.List() + ` FROM audit
WHERE  create_time >= $1 AND (actor = $2 OR $2 = '') AND (action = $3 OR $3 = '' OR action LIKE $3 || ' %')
ORDER  BY id DESC LIMIT 0 + $4`
)

// Audit adds an entry, which can neither be changed nor deleted. Its ID is not used.
func (t *Tx) Audit(e AuditEntry) error {
	for _, text := range []*string{&e.Actor, &e.Via, &e.Action, &e.Detail, &e.Error} {
		*text = (*text)[:min(len(*text), maxAudit)]
	}
	return t.add(insertAudit.Statement, insertAudit.Args(&e)...)
}

// An AuditFilter selects entries. Fields that are zero match all.
type AuditFilter struct {
	Since  time.Time
	Actor  string
	Action string // whole, or its first words
	Limit  int    // maximum number of entries, not 0
}

// ListAudit returns the newest entries that are chosen, newest first.
func (t *View) ListAudit(f AuditFilter) ([]AuditEntry, error) {
	return all(t, auditColumns.Scan, listAudit, unix(f.Since), f.Actor, f.Action, f.Limit)
}
