package api

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

var errRevoked = refusal(http.StatusUnauthorized, words.T("the token is not known, or was revoked"), words.T("ask the project's operator for a new one"))

// working returns err, or errRevoked if a token was revoked. The body of a request may arrive long after
// its token was looked at.
func working(token store.Token, err error) (store.Token, error) {
	if err == nil && !token.RevokedTime.IsZero() {
		err = errRevoked
	}
	return token, err
}

// affords returns the reason why a token may not have n workunits in a batch, or nil. The limits and
// counts that it uses do not change until the transaction ends.
func affords(tx *store.Tx, tokenID int64, b store.APIBatch, n int, now time.Time) error {
	token, err := working(tx.Token(tokenID))
	if err != nil || token.Quota == 0 && token.MaxBytes == 0 && token.MaxCPUTime == 0 {
		return err
	}
	if err := tx.LockToken(token.ID); err != nil {
		return err
	}
	if token.Quota > 0 {
		others, err := tx.UnfinishedOfToken(token.ID, b.ID, now)
		if err != nil {
			return err
		}
		if int(others)+n > token.Quota {
			cure := words.T("wait until some are finished, cancel a batch, or ask the project's operator for more")
			if n > token.Quota {
				cure = words.T("send smaller batches, one after the other, or ask the project's operator for more")
			}
			return refusal(http.StatusTooManyRequests,
				words.T("{n} workunits of this token are unfinished, the batch has {new}, and it may have {most}", "n", int(others), "new", n, "most", token.Quota), cure)
		}
	}
	if err := hasTime(tx.View, token, now); err != nil {
		return err
	}
	return hasRoom(tx.View, token, 1)
}

// hasTime returns an error if a token has used up its computing time.
func hasTime(tx *store.View, token store.Token, now time.Time) error {
	if token.MaxCPUTime == 0 {
		return nil
	}
	days, err := tx.TokenDays(token.ID, now)
	if err != nil {
		return err
	}
	u := allowance.Of(token, days, now)
	if !u.Over() {
		return nil
	}
	return refusal(http.StatusTooManyRequests,
		words.T("the finished jobs of this token have used {used} CPU hours in the last {days} days, and it may use {most}",
			"used", allowance.Hours(u.CPUTime), "days", store.TokenDays, "most", allowance.Hours(float64(token.MaxCPUTime))),
		words.T("submit again {when}, when some of it is older, or ask the project's operator for more", "when", words.UTC(words.When, u.Until, now)))
}

// hasRoom returns an error if a token may not store n more bytes.
func hasRoom(tx *store.View, token store.Token, n int64) error {
	if token.MaxBytes == 0 {
		return nil
	}
	stored, err := tx.TokenBytes(token.ID)
	if err != nil || stored <= token.MaxBytes-n {
		return err
	}
	text := words.T("the project stores {stored} for this token, and it may have {most}", "stored", words.Bytes(stored), "most", words.Bytes(token.MaxBytes))
	if n > 1 {
		text = words.T("the project stores {stored} for this token and would store {new} more, and it may have {most}", "stored", words.Bytes(stored), "new", words.Bytes(n), "most", words.Bytes(token.MaxBytes))
	}
	cure := words.T("wait until jobs are finished, which frees their input files, retire batches whose output you have, delete uploaded files that you do not need, or ask the project's operator for more")
	if n > token.MaxBytes {
		cure = words.T("send a smaller file, or ask the project's operator for more")
	}
	return refusal(http.StatusTooManyRequests, text, cure)
}

// fits returns a check for the transaction that stores the files of new workunits: the token works, and
// may not have more than its limit then.
func fits(tokenID int64) func(tx *store.Tx) error {
	return func(tx *store.Tx) error {
		token, err := working(tx.Token(tokenID))
		if err != nil {
			return err
		}
		return hasRoom(tx.View, token, 0)
	}
}

// reserve counts an uploaded file for a token, if there is room for it. Of several uploads of one name, the
// largest counts until settle is called.
func (a *API) reserve(ctx context.Context, tokenID int64, name string, n int64) error {
	return a.Store.Update(ctx, func(tx *store.Tx) error {
		token, err := working(tx.Token(tokenID))
		if err != nil {
			return err
		}
		if err := tx.LockToken(token.ID); err != nil {
			return err
		}
		old, err := tx.TokenFile(token.ID, name)
		if err != nil || n <= old {
			return err
		}
		if err := hasRoom(tx.View, token, n-old); err != nil {
			return err
		}
		return tx.SetFile(token.ID, name, n)
	})
}

// settle counts an uploaded file for a token as it is stored, whatever other requests for the name did meanwhile. It
// deletes a file for which another one took the room.
func (a *API) settle(ctx context.Context, tokenID int64, name string) (err error) {
	settled := false
	err = a.Store.View(ctx, func(tx *store.View) error {
		counted, err := tx.TokenFile(tokenID, name)
		if err != nil {
			return err
		}
		stored, err := a.Download.Size(ctx, name)
		settled = err == nil && stored == counted
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	if err != nil || settled {
		return err
	}
	var full error
	err = a.Store.Update(ctx, func(tx *store.Tx) error {
		full = nil
		if err := errors.Join(tx.LockFiles(), tx.LockToken(tokenID)); err != nil {
			return err
		}
		token, err := tx.Token(tokenID)
		if err != nil {
			return err
		}
		counted, err := tx.TokenFile(token.ID, name)
		if err != nil {
			return err
		}
		stored, err := a.Download.Size(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return tx.DropFiles([]string{name})
		}
		if err != nil {
			return err
		}
		needed, err := tx.FileNeeded(name)
		if err != nil {
			return err
		}
		if !needed && stored > counted {
			full = hasRoom(tx.View, token, stored-counted)
		}
		if _, refused := errors.AsType[*fault](full); !refused {
			return errors.Join(full, tx.SetFile(token.ID, name, stored))
		}
		return errors.Join(a.Download.Remove(ctx, name), tx.DropFiles([]string{name}))
	})
	return cmp.Or(err, full)
}

// self returns the limits of a request's token, and the used amounts.
func (a *API) self(c *call) (any, error) {
	now := time.Now()
	t := wire.Token{Name: c.token.Name, Apps: append([]string{}, c.token.Apps...), Weight: c.token.Weight}
	err := a.Store.View(c.Context(), func(tx *store.View) error {
		unfinished, err := tx.UnfinishedOfToken(c.token.ID, 0, now)
		if err != nil {
			return err
		}
		stored, err := tx.TokenBytes(c.token.ID)
		if err != nil {
			return err
		}
		days, err := tx.TokenDays(c.token.ID, now)
		u := allowance.Of(c.token, days, now)
		t.Unfinished = wire.Limit{Used: float64(unfinished), Allowed: limited(float64(c.token.Quota))}
		t.Bytes = wire.Limit{Used: float64(stored), Allowed: limited(float64(c.token.MaxBytes))}
		t.CPUHours = wire.Limit{Used: u.CPUTime / allowance.Hour, Allowed: limited(float64(c.token.MaxCPUTime) / allowance.Hour)}
		t.Held = u.Held(now).In(words.LanguageOf(c.Context()))
		if u.Over() {
			t.Until = u.Until.UTC()
		}
		return err
	})
	return t, err
}

func limited(most float64) *float64 {
	if most == 0 {
		return nil
	}
	return &most
}

// held returns why the waiting results of a batch are not sent, or "".
func held(tx *store.View, b store.APIBatch, now time.Time) (string, error) {
	token, err := tx.Token(b.TokenID)
	if errors.Is(err, store.ErrNotFound) || err == nil && token.MaxCPUTime == 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	days, err := tx.TokenDays(token.ID, now)
	return allowance.Of(token, days, now).Held(now).String(), err
}
