package operate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web"
)

// Account finds an account by its number or e-mail address. Of one that was deleted only the
// number is left.
func Account(tx *store.Tx, who string) (store.User, error) {
	var u store.User
	id, err := strconv.ParseInt(who, 10, 64)
	if err == nil {
		u, err = tx.User(id)
	} else {
		u, err = tx.UserByEmail(strings.ToLower(strings.TrimSpace(who)))
	}
	if err != nil {
		return u, fmt.Errorf("account %s: %w", who, err)
	}
	return u, nil
}

// existing is Account for one that was not deleted.
func existing(tx *store.Tx, who string) (store.User, error) {
	u, err := Account(tx, who)
	if err == nil && !u.DeletedTime.IsZero() {
		err = fmt.Errorf("account %s was deleted", who)
	}
	return u, err
}

// SetPassword gives an account another password and ends its visits to the web pages. Its
// computers stay attached: they use the account key.
func SetPassword(ctx context.Context, p *project.Project, who, password string) error {
	if len(password) < p.Config.MinPasswdLength {
		return fmt.Errorf("the password has %d characters; it needs at least %d", len(password), p.Config.MinPasswdLength)
	}
	var u store.User
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		u, err = existing(tx, who)
		return err
	})
	if err != nil {
		return err
	}
	hash, err := web.HashPassword(u.EmailAddr, password) // slow on purpose, so not within the transaction
	if err != nil {
		return err
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SetPasswdHash(u.ID, hash); err != nil {
			return err
		}
		return tx.EndSessions(u.ID)
	})
}

// maxReason bounds a reason that clients show, in bytes.
const maxReason = 500

// Ban bans an account for a reason that its owner reads, or ends the ban.
func Ban(ctx context.Context, p *project.Project, who string, ban bool, reason string, now time.Time) (u store.User, err error) {
	reason = strings.Join(strings.Fields(reason), " ")
	if len(reason) > maxReason {
		return u, fmt.Errorf("the reason has %d bytes; at most %d are shown", len(reason), maxReason)
	}
	if !ban {
		now = time.Time{}
	}
	return u, p.Store.Update(ctx, func(tx *store.Tx) error {
		if u, err = existing(tx, who); err != nil {
			return err
		}
		return tx.BanUser(u.ID, now, reason)
	})
}

// ExcludeHosts ends the sending of work to hosts, or resumes it. One that does not exist is an
// error, and nothing is changed.
func ExcludeHosts(ctx context.Context, p *project.Project, ids []int64, exclude bool) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			if h, err := tx.Host(id); err != nil {
				return fmt.Errorf("host %d: %w", id, err)
			} else if h.UserID == 0 {
				return fmt.Errorf("host %d was merged into host %d", id, h.RPCSeqno)
			}
			if err := tx.ExcludeHost(id, exclude); err != nil {
				return err
			}
		}
		return nil
	})
}

// Delete deletes an account: what says whose it is and whose its computers are goes, its key and
// password end, and what is in progress on its computers is given up as detached, so that others
// get it. Its results and credit stay, with an account that has no name. It returns how many
// results were given up.
func Delete(ctx context.Context, p *project.Project, who string, now time.Time) (given int, err error) {
	var id int64
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		u, err := existing(tx, who)
		if err != nil {
			return err
		}
		id = u.ID
		return tx.EraseUser(id, store.Erased{
			Email: fmt.Sprintf("deleted-%d", id), // no address, so nobody can sign up with it
			Name:  "Deleted account", Key: web.NewKey(), CrossProjectID: string(web.NewKey()),
		}, now)
	})
	if err != nil {
		return 0, err
	}
	for {
		n, ended := 0, 0
		err := p.Store.Update(ctx, func(tx *store.Tx) error {
			ended = 0
			tx.SetCause(now, "operator", "its account was deleted")
			results, err := tx.InProgressOfUser(id, cancelBatch)
			if err != nil {
				return err
			}
			n = len(results)
			for _, old := range results {
				x := old
				x.ServerState, x.Outcome, x.ReceivedTime = store.Over, store.ClientDetached, now
				switch err := tx.SaveResult(old, x); {
				case errors.Is(err, store.ErrLost): // reported just now
					continue
				case err != nil:
					return err
				}
				ended++
				if err := tx.TransitionBy(old.WorkunitID, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			return given, err
		}
		given += ended
	}
}

// RandomPassword returns a password of 80 random bits, for somebody to be told.
func RandomPassword() string { return string(web.NewKey())[:20] }
