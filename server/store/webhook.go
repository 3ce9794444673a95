package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Webhook is a batch whose sender is notified when it is done.
type Webhook struct {
	APIBatch
	TokenHash string // of its sender
	Due       time.Time
	Tries     int // failed ones
}

var (
	dueWebhooks = `
SELECT b.id, b.create_time, b.tokenid, b.name, b.appid, b.expected, b.made, b.webhook, t.hash, b.webhook_time, b.webhook_tries
FROM   api_batch b JOIN token t ON t.id = b.tokenid
WHERE  b.webhook_time > 0 AND b.webhook_time <= $1 AND b.made = 1 AND t.revoked_time = 0 ORDER BY b.webhook_time LIMIT 0 + $2`
	setWebhook = db.Update("api_batch", "webhook_time = $3, webhook_tries = $4", "webhook_time = $2")
)

// DueWebhooks returns the webhooks that are due at now, the earliest first. It leaves out batches
// that are not made yet, and batches of revoked tokens.
func (t *View) DueWebhooks(now time.Time, limit int) ([]Webhook, error) {
	return all(t, func(r row) (w Webhook, err error) {
		return w, r.Scan(&w.ID, (*unix)(&w.CreateTime), &w.TokenID, &w.Name, &w.AppID, &w.Expected, (*flag)(&w.Made), &w.Webhook, &w.TokenHash, (*unix)(&w.Due), &w.Tries)
	}, dueWebhooks, unix(now), limit)
}

// SetWebhook sets when a webhook is due next (zero: never again), and the number of failed tries.
// It returns ErrLost if another process has changed the webhook.
func (t *Tx) SetWebhook(old Webhook, due time.Time, tries int) error {
	return t.execOne(setWebhook, old.ID, unix(old.Due), unix(due), tries)
}
