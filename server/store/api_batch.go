package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// An APIBatch is a batch that was submitted with a token.
type APIBatch struct {
	ID         int64     `db:"id"`
	CreateTime time.Time `db:"create_time"`
	TokenID    int64     `db:"tokenid"`
	Name       string    `db:"name"` // that its sender gave it
	AppID      int64     `db:"appid"`
	Expected   int       `db:"expected"` // number of workunits (0: they are not submitted yet)
	Made       bool      `db:"made"`     // all workunits were made, and may have been purged since
	Webhook    string    `db:"webhook"`  // URL that is notified when it is done ("": none)

	RetiredTime time.Time `db:"retired_time"` // when its output was deleted, by its sender or because it expired (zero: it is kept)
	ExpireTime  time.Time `db:"expire_time"`  // when it is given up and its output deleted (zero: never)

	Content       string    `db:"content"`        // hash of the submission ("" before it, and in batches of old versions)
	PromisedUntil time.Time `db:"promised_until"` // when the request that makes its workunits ends at the latest (zero: such a request is not running)
}

// firstAPIBatch is the number of the batch of the first, in workunits: operators give theirs
// smaller ones.
const firstAPIBatch = 1_000_000_000

// Number returns the batch number of its workunits.
func (b *APIBatch) Number() int64 { return firstAPIBatch + b.ID }

var apiBatchColumns = db.ColumnsOf[APIBatch]()

var (
	unfinishedOf = `
SELECT count(*) FROM workunit
WHERE  batch IN (SELECT id + 1000000000 FROM api_batch WHERE tokenid = $1 AND id <> $2) AND batch <> 0 AND canonical_resultid = 0 AND error_mask = 0`
	unmadeOf = `
SELECT COALESCE(sum(CASE WHEN n < expected THEN expected - n ELSE 0 END), 0)
FROM   (SELECT b.expected, (SELECT count(*) FROM workunit w WHERE w.batch = b.id + 1000000000 AND w.batch <> 0) AS n
        FROM api_batch b WHERE b.tokenid = $1 AND b.id <> $2 AND b.made = 0 AND b.retired_time = 0 AND b.promised_until > $3) AS unmade`
	lockToken     = db.Update("token", "quota = quota")
	closeAPIBatch = db.UpdateReading("api_batch", "made = 1, expected = (SELECT count(*) FROM workunit w WHERE w.batch = $1 + 1000000000 AND w.batch <> 0)", "made = 0")
)

var (
	saveAPIBatch   = apiBatchColumns.Save("api_batch", "promised_until", "expected, made, retired_time, expire_time, content", "expected, made, retired_time")
	insertAPIBatch = apiBatchColumns.InsertInto("api_batch", "create_time, tokenid, name, appid, expected, webhook, expire_time", "webhook_time")
	apiBatch       = `SELECT ` + apiBatchColumns.List() + ` FROM api_batch WHERE id = $1 AND tokenid = $2`
	apiBatchByName = `SELECT ` + apiBatchColumns.List() + ` FROM api_batch WHERE tokenid = $1 AND name = $2`
	apiBatches     = `SELECT ` + apiBatchColumns.List() + ` FROM api_batch WHERE tokenid = $1 ORDER BY id DESC LIMIT 0 + $2`
	expiredBatches = `SELECT ` + apiBatchColumns.List() + ` FROM api_batch
WHERE  expire_time > 0 AND expire_time <= $1 AND retired_time = 0 AND id > $2 ORDER BY id LIMIT 0 + $3`
	workunitsIn = `SELECT ` + workunitColumns.List() + ` FROM workunit WHERE batch = $1 AND batch <> 0 AND id > $2 ORDER BY id LIMIT 0 + $3`
	apiWorkunit = `SELECT ` + workunitColumns.List() + ` FROM workunit
WHERE  name IN (SELECT 'api' || id || '_' || $2 FROM api_batch WHERE tokenid = $1 UNION ALL SELECT '' || $2)
AND    batch IN (SELECT id + 1000000000 FROM api_batch WHERE tokenid = $1) ORDER BY id DESC LIMIT 1`
)

// InsertAPIBatch adds a batch and returns its id, or ErrExists if its token has one of its name.
func (t *Tx) InsertAPIBatch(b APIBatch) (int64, error) {
	due := time.Time{}
	if b.Webhook != "" {
		due = b.CreateTime
	}
	return t.insert(insertAPIBatch.Statement, insertAPIBatch.Args(&b, unix(due))...)
}

// SaveAPIBatch stores the changes of a batch. All its expected workunits count until the promised time, and
// after that the existing ones. The output of a batch that is retired does not count among the bytes of its
// token any more. It returns ErrLost if the batch was filled, made or retired since old was read, and of two
// transactions that save a batch at once, even without changes, one is repeated.
func (t *Tx) SaveAPIBatch(old, now APIBatch) error {
	if err := save(t.Changes, saveAPIBatch, &old, &now); err != nil || now.RetiredTime.IsZero() {
		return err
	}
	return t.run(dropOutput, old.ID)
}

// ExpiredAPIBatches returns batches with ids above after that have expired by a time and are not retired, in the order
// of their ids.
func (t *View) ExpiredAPIBatches(now time.Time, after int64, limit int) ([]APIBatch, error) {
	return all(t, apiBatchColumns.Scan, expiredBatches, unix(now), after, limit)
}

// APIBatch returns a batch of a token, or ErrNotFound.
func (t *View) APIBatch(id, tokenID int64) (APIBatch, error) {
	return one(t, apiBatchColumns.Scan, apiBatch, id, tokenID)
}

// APIBatchByName returns the batch of a token by its sender's name for it, or ErrNotFound.
func (t *View) APIBatchByName(tokenID int64, name string) (APIBatch, error) {
	return one(t, apiBatchColumns.Scan, apiBatchByName, tokenID, name)
}

// APIBatches returns the newest batches of a token, newest first.
func (t *View) APIBatches(tokenID int64, limit int) ([]APIBatch, error) {
	return all(t, apiBatchColumns.Scan, apiBatches, tokenID, limit)
}

// UnfinishedOfToken counts the unfinished workunits in the batches of a token except one (0: in
// all), including workunits that are promised at now and not made yet.
func (t *View) UnfinishedOfToken(id, but int64, now time.Time) (int64, error) {
	n, err := one(t, scanID, unfinishedOf, id, but)
	if err != nil {
		return 0, err
	}
	unmade, err := one(t, scanID, unmadeOf, id, but, unix(now))
	return n + unmade, err
}

// LockToken makes other transactions that lock the same token wait until this one ends, so that
// counts of the token stay correct.
func (t *Tx) LockToken(id int64) error { return t.run(lockToken, id) }

// CloseAPIBatch ends the making of a batch's workunits, unless all were made. The batch then
// expects as many as it has.
func (t *Tx) CloseAPIBatch(id int64) error { return t.run(closeAPIBatch, id) }

// WorkunitsIn returns workunits of a batch with ids above after.
func (t *View) WorkunitsIn(batch, after int64, limit int) ([]Workunit, error) {
	return all(t, workunitColumns.Scan, workunitsIn, batch, after, limit)
}

// APIWorkunit returns the newest workunit of a token with a name, which is the sender's or the
// whole name. It returns ErrNotFound if such a workunit does not exist.
func (t *View) APIWorkunit(tokenID int64, name string) (Workunit, error) {
	return one(t, workunitColumns.Scan, apiWorkunit, tokenID, name)
}

// APIBatchOf returns the batch of a token by its Number, or ErrNotFound.
func (t *View) APIBatchOf(number, tokenID int64) (APIBatch, error) {
	return t.APIBatch(number-firstAPIBatch, tokenID)
}

// BatchTimes are sums over the results of a batch.
type BatchTimes struct {
	CPUTime    float64   // seconds
	LastReport time.Time // zero: none was reported
	Credit     float64   // of the canonical results
}

const batchTimes = `
SELECT COALESCE(sum(r.cpu_time), 0), COALESCE(max(r.received_time), 0), COALESCE(sum(CASE WHEN r.id = w.canonical_resultid THEN w.canonical_credit ELSE 0 END), 0)
FROM   workunit w JOIN result r ON r.workunitid = w.id WHERE w.batch = +$1 AND w.batch <> 0`

// BatchTimes adds up the results of a batch that were not purged.
func (t *View) BatchTimes(batch int64) (b BatchTimes, err error) {
	return one(t, func(r row) (b BatchTimes, err error) {
		return b, r.Scan(&b.CPUTime, (*unix)(&b.LastReport), &b.Credit)
	}, batchTimes, batch)
}
