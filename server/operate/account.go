package operate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/deletion"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// Account finds an account by its number or e-mail address. Of one that was deleted only the
// number is left.
func Account(tx *store.View, who string) (store.User, error) {
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
func existing(tx *store.View, who string) (store.User, error) {
	u, err := Account(tx, who)
	if err == nil && !u.DeletedTime.IsZero() {
		err = errDeleted(who)
	}
	return u, err
}

func errDeleted(who string) error { return fmt.Errorf("account %s was deleted", who) }

// SetPassword gives an account another password and ends its visits to the web pages. Its
// computers stay attached: they use the account key.
func SetPassword(ctx context.Context, p *project.Project, who, password string) error {
	if fault := p.Config.PasswordFault(password); fault.Is() {
		return words.Refuse(fault)
	}
	u, err := store.Read(ctx, p.Store, func(tx *store.View) (store.User, error) { return existing(tx, who) })
	if err != nil {
		return err
	}
	hash, err := account.HashPassword(u.EmailAddr, password) // slow on purpose, so not within the transaction
	if err != nil {
		return err
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		now, err := existing(tx.View, strconv.FormatInt(u.ID, 10))
		if err != nil {
			return err
		}
		if now.EmailAddr != u.EmailAddr { // which the hash includes
			return fmt.Errorf("account %s got another e-mail address just now: set the password again", who)
		}
		old := now
		now.PasswdHash = hash
		if err := tx.SaveUser(old, now); err != nil {
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
		now, reason = time.Time{}, ""
	}
	return u, p.Store.Update(ctx, func(tx *store.Tx) error {
		if u, err = existing(tx.View, who); err != nil {
			return err
		}
		banned := u
		banned.BannedTime, banned.BanReason = now, reason
		if err := tx.SaveUser(u, banned); err != nil {
			return err
		}
		return tx.EndSessions(u.ID)
	})
}

// Trust makes an account trusted, or ends that. A result of a trusted account that is already there
// decides about its workunit.
func Trust(ctx context.Context, p *project.Project, who string, trust bool, now time.Time) (u store.User, err error) {
	return u, p.Store.Update(ctx, func(tx *store.Tx) error {
		if u, err = existing(tx.View, who); err != nil {
			return err
		}
		trusted := u
		trusted.Trusted = trust
		if err := tx.SaveUser(u, trusted); err != nil || !trust {
			return err
		}
		ids, err := tx.SuspicionsOf(u.ID)
		if err != nil {
			return err
		}
		tx.SetCause(now, "operator", "an account is trusted, which has returned a result")
		for _, id := range ids {
			old, err := tx.Workunit(id)
			if err != nil {
				return err
			}
			wu := old
			wu.NeedValidate = true
			if err := tx.SaveWorkunit(old, wu); err != nil {
				return err
			}
		}
		return nil
	})
}

// ExcludeHosts ends the sending of work to hosts, or resumes it. One that does not exist is an
// error, and nothing is changed.
func ExcludeHosts(ctx context.Context, p *project.Project, ids []int64, exclude bool) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			old, err := tx.Host(id)
			if err != nil {
				return fmt.Errorf("host %d: %w", id, err)
			}
			if old.UserID == 0 {
				return fmt.Errorf("host %d was merged into host %d", id, old.RPCSeqno)
			}
			now := old
			now.MaxResultsDay = 0
			if exclude {
				now.MaxResultsDay = -1
			}
			if err := tx.UpdateHost(old, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// An AccountUse has the data that depends on an account.
type AccountUse struct {
	store.User
	Computers, InProgress int // InProgress counts results
}

// UseOf returns the data that depends on an account, to be shown before an irreversible action.
func UseOf(ctx context.Context, p *project.Project, who string) (use AccountUse, err error) {
	const all = 1_000_000
	err = p.Store.View(ctx, func(tx *store.View) error {
		if use.User, err = Account(tx, who); err != nil {
			return err
		}
		hosts, err := tx.HostsOfUser(use.ID, all)
		if err != nil {
			return err
		}
		results, err := tx.InProgressOfUser(use.ID, all)
		use.Computers, use.InProgress = len(hosts), len(results)
		return err
	})
	return use, err
}

// Delete deletes an account, or completes its deletion: see deletion.Delete. It returns an error if the
// deletion was complete.
func Delete(ctx context.Context, p *project.Project, who string, now time.Time) (given int, err error) {
	var u store.User
	if err := p.Store.View(ctx, func(tx *store.View) error { u, err = Account(tx, who); return err }); err != nil {
		return 0, err
	}
	given, err = deletion.Delete(ctx, p.Store, u.ID, "operator", now)
	if errors.Is(err, store.ErrLost) {
		err = errDeleted(who)
	}
	return given, err
}

// RandomPassword returns a password of 80 random bits, for a person.
func RandomPassword() string { return string(account.NewKey())[:20] }
