package store

import (
	"cmp"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Token lets a program submit work over HTTP.
type Token struct {
	ID          int64     `db:"id"`
	CreateTime  time.Time `db:"create_time"`
	Name        string    `db:"name"`
	Hash        string    `db:"hash"`         // hash of its bearer's secret
	Apps        []string  `db:"apps"`         // names of the applications for which it may be used, empty for all
	Quota       int       `db:"quota"`        // unfinished workunits at a time (0: unlimited)
	MaxBytes    int64     `db:"max_bytes"`    // of its files that the project stores (0: unlimited)
	MaxCPUTime  int64     `db:"max_cpu_time"` // seconds in TokenDays days (0: unlimited)
	Weight      float64   `db:"weight"`       // part of the computing time of an application, relative to other tokens (0: 1)
	UsedTime    time.Time `db:"used_time"`
	RevokedTime time.Time `db:"revoked_time"` // zero: it works
}

var tokenColumns = db.ColumnsOf[Token]()

var (
	saveToken   = tokenColumns.Save("token", "", "name, quota, max_bytes, max_cpu_time, weight, used_time, revoked_time", "revoked_time")
	insertToken = tokenColumns.InsertInto("token", "create_time, name, hash, apps, quota, max_bytes, max_cpu_time, weight")
	tokenByHash = `SELECT ` + tokenColumns.List() + ` FROM token WHERE hash = $1 AND revoked_time = 0`
	tokenByID   = `SELECT ` + tokenColumns.List() + ` FROM token WHERE id = $1`
	tokenByName = `SELECT ` + tokenColumns.List() + ` FROM token WHERE name = $1 AND revoked_time = 0`
	tokens      = `SELECT ` + tokenColumns.List() + ` FROM token ORDER BY id`
)

// InsertToken adds a token and returns its id, or ErrExists if there is one of its name.
func (t *Tx) InsertToken(x Token) (int64, error) {
	x.Weight = cmp.Or(x.Weight, 1)
	return t.insert(insertToken.Statement, insertToken.Args(&x)...)
}

// TokenByHash returns a token that was not revoked, or ErrNotFound.
func (t *View) TokenByHash(hash string) (Token, error) {
	return one(t, tokenColumns.Scan, tokenByHash, hash)
}

// Token returns a token by its id, or ErrNotFound.
func (t *View) Token(id int64) (Token, error) { return one(t, tokenColumns.Scan, tokenByID, id) }

// TokenByName returns a token that was not revoked, or ErrNotFound.
func (t *View) TokenByName(name string) (Token, error) {
	return one(t, tokenColumns.Scan, tokenByName, name)
}

// Tokens returns all tokens, revoked ones too.
func (t *View) Tokens() ([]Token, error) { return all(t, tokenColumns.Scan, tokens) }

// SaveToken stores the changes of a token. It returns ErrLost if it was revoked since old was read.
func (t *Tx) SaveToken(old, now Token) error { return save(t.Changes, saveToken, &old, &now) }
