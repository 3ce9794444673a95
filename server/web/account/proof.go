package account

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A Proof shows that a request is an account's. The account may change before the request is carried out:
// it may be banned, or get another password. Gate.Update therefore checks a proof again in the transaction
// that uses it.
type Proof struct {
	store.User // as they were when the request came
	still      func(tx *store.View, now store.User) error
}

// And returns the proof that both are true. They are of the same account.
func (p Proof) And(q Proof) Proof {
	return Proof{p.User, func(tx *store.View, now store.User) error {
		if err := p.still(tx, now); err != nil {
			return err
		}
		return q.still(tx, now)
	}}
}

// Update runs fn in a transaction with the account as it is there. It returns the error of a proof that does
// not hold any more, as the proof's maker would return it now.
func (g *Gate) Update(ctx context.Context, p Proof, fn func(tx *store.Tx, u store.User) error) error {
	return g.Store.Update(ctx, func(tx *store.Tx) error {
		held, err := tx.UsersToChange([]int64{p.ID})
		if err != nil {
			return err
		}
		now, ok := held[p.ID]
		if !ok {
			return ErrSession
		}
		if err := p.still(tx.View, now); err != nil {
			return err
		}
		return fn(tx, now)
	})
}

// byPassword is the proof of a password or of the key in its place. It ends with the secret.
func byPassword(u store.User, key bool) Proof {
	return Proof{u, func(_ *store.View, now store.User) error {
		if key && now.Authenticator != u.Authenticator || !key && now.PasswdHash != u.PasswdHash {
			return ErrWrong
		}
		return welcome(now)
	}}
}

// bySession is the proof of a visit's cookie.
func bySession(u store.User, hash string) Proof {
	return Proof{u, func(tx *store.View, now store.User) error {
		_, err := tx.UserOfSession(hash, time.Now())
		if errors.Is(err, store.ErrNotFound) || err == nil && now.Banned() {
			return ErrSession
		}
		return err
	}}
}

// ByKey returns the account with a key. The error for an unknown key is a Refusal.
func (g *Gate) ByKey(ctx context.Context, key protocol.Authenticator) (p Proof, err error) {
	unknown := Refuse(protocol.ErrNumNotFound, words.T("not found"))
	p.still = func(_ *store.View, now store.User) error {
		if now.Authenticator != key || now.Banned() {
			return unknown
		}
		return nil
	}
	p.User, err = store.Read(ctx, g.Store, func(tx *store.View) (store.User, error) { return tx.UserByKey(key) })
	if errors.Is(err, store.ErrNotFound) || err == nil && p.Banned() {
		err = unknown
	}
	return p, err
}
