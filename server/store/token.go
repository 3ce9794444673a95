package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Token lets a program submit work over HTTP.
type Token struct {
	ID          int64
	CreateTime  time.Time
	Name        string
	Hash        string   // hash of its bearer's secret
	Apps        []string // names of the applications for which it may be used, empty for all
	Quota       int      // unfinished workunits at a time (0: unlimited)
	UsedTime    time.Time
	RevokedTime time.Time // zero: it works
}

var tokenColumns = columns[Token]{
	{"id", func(t *Token) any { return &t.ID }},
	{"create_time", func(t *Token) any { return (*unix)(&t.CreateTime) }},
	{"name", func(t *Token) any { return &t.Name }},
	{"hash", func(t *Token) any { return &t.Hash }},
	{"apps", func(t *Token) any { return (*spaced)(&t.Apps) }},
	{"quota", func(t *Token) any { return &t.Quota }},
	{"used_time", func(t *Token) any { return (*unix)(&t.UsedTime) }},
	{"revoked_time", func(t *Token) any { return (*unix)(&t.RevokedTime) }},
}

var (
	tokenUsed   = db.Update("token", "used_time = $2", "used_time < $3")
	revokeToken = db.Change(`UPDATE token SET revoked_time = $2, name = name || ' (revoked ' || id || ')' WHERE name = $1 AND revoked_time = 0`)
)

var (
	insertToken = tokenColumns.InsertInto("token", "create_time, name, hash, apps, quota")
	tokenByHash = `SELECT ` + tokenColumns.List() + ` FROM token WHERE hash = $1 AND revoked_time = 0`
	tokens      = `SELECT ` + tokenColumns.List() + ` FROM token ORDER BY id`
)

// InsertToken adds a token and returns its id, or ErrExists if there is one of its name.
func (t *Tx) InsertToken(x Token) (int64, error) {
	return t.insert(insertToken.Statement, insertToken.Args(&x)...)
}

// TokenByHash returns a token that was not revoked, or ErrNotFound.
func (t *View) TokenByHash(hash string) (Token, error) {
	return one(t, tokenColumns.Scan, tokenByHash, hash)
}

// Tokens returns all tokens, revoked ones too.
func (t *View) Tokens() ([]Token, error) { return all(t, tokenColumns.Scan, tokens) }

// TokenUsed notes that a token was used, to the minute.
func (t *Tx) TokenUsed(id int64, now time.Time) error {
	return t.run(tokenUsed, id, unix(now), unix(now.Add(-time.Minute)))
}

// RevokeToken ends a token and frees its name. It returns ErrLost if no token with that name works.
func (t *Tx) RevokeToken(name string, now time.Time) error {
	return t.execOne(revokeToken, name, unix(now))
}
