package store

import "time"

// A Token lets a program submit work over HTTP.
type Token struct {
	ID          int64
	CreateTime  time.Time
	Name        string
	Hash        string   // of what its bearer shows
	Apps        []string // names of applications for which it is; none: all
	Quota       int      // unfinished workunits at a time; 0: no limit
	UsedTime    time.Time
	RevokedTime time.Time // zero: it works
}

var tokenColumns = columns[Token]{
	{"id", func(t *Token) any { return &t.ID }},
	{"create_time", func(t *Token) any { return timeAt{&t.CreateTime} }},
	{"name", func(t *Token) any { return &t.Name }},
	{"hash", func(t *Token) any { return &t.Hash }},
	{"apps", func(t *Token) any { return spaced{&t.Apps} }},
	{"quota", func(t *Token) any { return &t.Quota }},
	{"used_time", func(t *Token) any { return timeAt{&t.UsedTime} }},
	{"revoked_time", func(t *Token) any { return timeAt{&t.RevokedTime} }},
}

const (
	tokenUsed   = `UPDATE token SET used_time = $2 WHERE id = $1 AND used_time < $3`
	revokeToken = `UPDATE token SET revoked_time = $2, name = name || ' (revoked ' || id || ')' WHERE name = $1 AND revoked_time = 0`
)

var (
	insertToken = tokenColumns.insertInto("token", "create_time, name, hash, apps, quota")
	tokenByHash = `SELECT ` + tokenColumns.list() + ` FROM token WHERE hash = $1 AND revoked_time = 0`
	tokens      = `SELECT ` + tokenColumns.list() + ` FROM token ORDER BY id`
)

// InsertToken adds a token and returns its id, or ErrExists if there is one of its name.
func (t *Tx) InsertToken(x Token) (int64, error) {
	return t.insert(insertToken.query, insertToken.args(&x)...)
}

// TokenByHash returns a token that was not revoked, or ErrNotFound.
func (t *Tx) TokenByHash(hash string) (Token, error) {
	return one(t, tokenColumns.scan, tokenByHash, hash)
}

// Tokens returns all tokens, revoked ones too.
func (t *Tx) Tokens() ([]Token, error) { return all(t, tokenColumns.scan, tokens) }

// TokenUsed notes that a token was used, to the minute.
func (t *Tx) TokenUsed(id int64, now time.Time) error {
	return t.run(tokenUsed, id, unix(now), unix(now.Add(-time.Minute)))
}

// RevokeToken ends a token, and frees its name; ErrLost: there is none of that name.
func (t *Tx) RevokeToken(name string, now time.Time) error {
	return t.execOne(revokeToken, name, unix(now))
}

// An APIBatch is a batch that was submitted with a token.
type APIBatch struct {
	ID         int64
	CreateTime time.Time
	TokenID    int64
	Name       string // that its sender gave it
	AppID      int64
	Expected   int    // workunits
	Made       bool   // all of them; they may be purged since
	Webhook    string // where its sender is told when it is done; "": nowhere

	RetiredTime time.Time // when its sender had its output deleted; zero: it is kept
}

// firstAPIBatch is the number of the batch of the first, in workunits: operators give theirs
// smaller ones.
const firstAPIBatch = 1_000_000_000

// Number is what its workunits have as their batch.
func (b *APIBatch) Number() int64 { return firstAPIBatch + b.ID }

var apiBatchColumns = columns[APIBatch]{
	{"id", func(b *APIBatch) any { return &b.ID }},
	{"create_time", func(b *APIBatch) any { return timeAt{&b.CreateTime} }},
	{"tokenid", func(b *APIBatch) any { return &b.TokenID }},
	{"name", func(b *APIBatch) any { return &b.Name }},
	{"appid", func(b *APIBatch) any { return &b.AppID }},
	{"expected", func(b *APIBatch) any { return &b.Expected }},
	{"made", func(b *APIBatch) any { return flagged{&b.Made} }},
	{"webhook", func(b *APIBatch) any { return &b.Webhook }},
	{"retired_time", func(b *APIBatch) any { return timeAt{&b.RetiredTime} }},
}

const (
	apiBatchMade = `UPDATE api_batch SET made = 1 WHERE id = $1`
	retireBatch  = `UPDATE api_batch SET retired_time = $2 WHERE id = $1 AND retired_time = 0`
	unfinishedOf = `
SELECT count(*) FROM workunit
WHERE  batch IN (SELECT id + 1000000000 FROM api_batch WHERE tokenid = $1) AND batch <> 0 AND canonical_resultid = 0 AND error_mask = 0`
)

var (
	insertAPIBatch = apiBatchColumns.insertInto("api_batch", "create_time, tokenid, name, appid, expected, webhook", "webhook_time")
	apiBatch       = `SELECT ` + apiBatchColumns.list() + ` FROM api_batch WHERE id = $1 AND tokenid = $2`
	apiBatchByName = `SELECT ` + apiBatchColumns.list() + ` FROM api_batch WHERE tokenid = $1 AND name = $2`
	apiBatches     = `SELECT ` + apiBatchColumns.list() + ` FROM api_batch WHERE tokenid = $1 ORDER BY id DESC LIMIT 0 + $2`
	workunitsIn    = `SELECT ` + workunitColumns.list() + ` FROM workunit WHERE batch = $1 AND batch <> 0 AND id > $2 ORDER BY id LIMIT 0 + $3`
)

// InsertAPIBatch adds a batch and returns its id, or ErrExists if its token has one of its name.
func (t *Tx) InsertAPIBatch(b APIBatch) (int64, error) {
	due := time.Time{}
	if b.Webhook != "" {
		due = b.CreateTime
	}
	return t.insert(insertAPIBatch.query, insertAPIBatch.args(&b, unix(due))...)
}

// APIBatchMade notes that all workunits of a batch were made.
func (t *Tx) APIBatchMade(id int64) error { return t.execOne(apiBatchMade, id) }

// RetireAPIBatch notes that the output of a batch was deleted, unless that was noted before.
func (t *Tx) RetireAPIBatch(id int64, now time.Time) error { return t.run(retireBatch, id, unix(now)) }

// APIBatch returns a batch of a token, or ErrNotFound.
func (t *Tx) APIBatch(id, tokenID int64) (APIBatch, error) {
	return one(t, apiBatchColumns.scan, apiBatch, id, tokenID)
}

// APIBatchByName returns the batch of a token that its sender called so, or ErrNotFound.
func (t *Tx) APIBatchByName(tokenID int64, name string) (APIBatch, error) {
	return one(t, apiBatchColumns.scan, apiBatchByName, tokenID, name)
}

// APIBatches returns the newest batches of a token, newest first.
func (t *Tx) APIBatches(tokenID int64, limit int) ([]APIBatch, error) {
	return all(t, apiBatchColumns.scan, apiBatches, tokenID, limit)
}

// UnfinishedOfToken counts workunits without an outcome in the batches of a token.
func (t *Tx) UnfinishedOfToken(id int64) (int64, error) { return one(t, scanID, unfinishedOf, id) }

// WorkunitsIn returns workunits of a batch with ids above after, whole.
func (t *Tx) WorkunitsIn(batch, after int64, limit int) ([]Workunit, error) {
	return all(t, workunitColumns.scan, workunitsIn, batch, after, limit)
}
