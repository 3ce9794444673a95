package store

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/server/db"
)

var (
	useOperatorLink     = db.InsertIfMissing("operator_link", "hash, expires")
	addOperatorSession  = db.Insert("operator_session", "hash, actor, expires")
	endOperatorSession  = db.Change(`DELETE FROM operator_session WHERE hash = $1`)
	endOperatorSessions = db.Change(`DELETE FROM operator_session WHERE expires <= $1`)
	endOperatorLinks    = db.Change(`DELETE FROM operator_link WHERE expires <= $1`)
	operatorOfSession   = `SELECT actor FROM operator_session WHERE hash = $1 AND expires > $2`
)

// An OperatorSession is an operator's visit to the pages.
type OperatorSession struct {
	Hash    string // hash of the browser's secret
	Actor   string
	Expires time.Time
}

// SignIn uses up a link and starts a session. link is the hash of the link, which works until
// expires. SignIn returns ErrExists if the link was used before. It deletes links and sessions that
// have expired at now.
func (t *Tx) SignIn(link string, expires time.Time, s OperatorSession, now time.Time) error {
	for _, s := range []*db.Statement{endOperatorSessions, endOperatorLinks} {
		if err := t.run(s, unix(now)); err != nil {
			return err
		}
	}
	switch err := t.execOne(useOperatorLink, link, unix(expires)); {
	case errors.Is(err, ErrLost):
		return ErrExists
	case err != nil:
		return err
	}
	return t.run(addOperatorSession, s.Hash, s.Actor, unix(s.Expires))
}

// Operator returns the operator of a session at now, or ErrNotFound.
func (t *View) Operator(hash string, now time.Time) (actor string, err error) {
	return one(t, scanString, operatorOfSession, hash, unix(now))
}

// SignOut ends a session, if there is one of that hash.
func (t *Tx) SignOut(hash string) error { return t.run(endOperatorSession, hash) }
