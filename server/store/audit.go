package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// An AuditEntry is the record of an operator's action.
type AuditEntry struct {
	ID         int64     `json:"id"`
	CreateTime time.Time `json:"create_time"`
	Actor      string    `json:"actor"`           // user of the operating system, or account
	Via        string    `json:"via"`             // "command", or "page" of the console
	Action     string    `json:"action"`          // such as "work cancel"
	Detail     string    `json:"detail"`          // to what, and how
	Error      string    `json:"error,omitempty"` // "": it was done
}

// maxAudit bounds each text of an entry, bytes.
const maxAudit = 4000

var (
	insertAudit = db.Insert("audit", "create_time, actor, via, action, detail, error")
	listAudit   = `
SELECT id, create_time, actor, via, action, detail, error FROM audit
WHERE  create_time >= $1 AND (actor = $2 OR $2 = '') AND (action = $3 OR $3 = '' OR action LIKE $3 || ' %')
ORDER  BY id DESC LIMIT 0 + $4`
)

// Audit adds an entry, which can neither be changed nor deleted. Its ID is not used.
func (t *Tx) Audit(e AuditEntry) error {
	cut := func(s string) string { return s[:min(len(s), maxAudit)] }
	return t.add(insertAudit, e.CreateTime.Unix(), cut(e.Actor), cut(e.Via), cut(e.Action), cut(e.Detail), cut(e.Error))
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
	since := int64(0)
	if !f.Since.IsZero() {
		since = f.Since.Unix()
	}
	return all(t, scanAudit, listAudit, since, f.Actor, f.Action, f.Limit)
}

func scanAudit(r row) (e AuditEntry, err error) {
	var at int64
	err = r.Scan(&e.ID, &at, &e.Actor, &e.Via, &e.Action, &e.Detail, &e.Error)
	e.CreateTime = time.Unix(at, 0)
	return e, err
}
