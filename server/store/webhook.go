package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Webhook is a batch whose sender is notified when it is done.
type Webhook struct {
	APIBatch  `db:"b."`
	TokenHash string    `db:"t.hash"` // of its sender
	Due       time.Time `db:"b.webhook_time"`
	Tries     int       `db:"b.webhook_tries"` // failed ones
}

var (
	webhookColumns = db.ColumnsOf[Webhook]()
	dueWebhooks    = `
SELECT ` + webhookColumns.List() + `
FROM   api_batch b JOIN token t ON t.id = b.tokenid
WHERE  b.webhook_time > 0 AND b.webhook_time <= $1 AND b.made = 1 AND t.revoked_time = 0 ORDER BY b.webhook_time LIMIT 0 + $2`
	setWebhook = db.Update("api_batch", "webhook_time = $3, webhook_tries = $4", "webhook_time = $2")
)

// DueWebhooks returns the webhooks that are due at now, the earliest first. It leaves out batches
// that are not made yet, and batches of revoked tokens.
func (t *View) DueWebhooks(now time.Time, limit int) ([]Webhook, error) {
	return all(t, webhookColumns.Scan, dueWebhooks, unix(now), limit)
}

// SetWebhook sets when a webhook is due next (zero: never again), and the number of failed tries.
// It returns ErrLost if another process has changed the webhook.
func (t *Tx) SetWebhook(old Webhook, due time.Time, tries int) error {
	return t.execOne(setWebhook, old.ID, unix(old.Due), unix(due), tries)
}
