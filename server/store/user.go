package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A User is an account.
type User struct {
	ID             int64
	CreateTime     time.Time
	EmailAddr      string // lower case
	Name           string
	Authenticator  protocol.Authenticator
	PasswdHash     string // a slow hash of what clients send as passwd_hash; "" no password
	CrossProjectID string
	Venue          string
	GlobalPrefs    string // raw XML
	ProjectPrefs   string // raw XML
	TotalCredit    float64
	ExpavgCredit   float64
	ExpavgTime     time.Time
	BannedTime     time.Time // zero: it is not banned
	BanReason      string    // for its owner to read; "" none is told
	DeletedTime    time.Time // zero: it is not deleted
}

// Banned reports whether an account is to get nothing from the project.
func (u *User) Banned() bool { return !u.BannedTime.IsZero() || !u.DeletedTime.IsZero() }

const userColumns = `id, create_time, email_addr, name, authenticator, passwd_hash, cross_project_id,
	venue, global_prefs, project_prefs, total_credit, expavg_credit, expavg_time,
	banned_time, ban_reason, deleted_time`

func scanUser(r row) (u User, err error) {
	return u, r.Scan(&u.ID, timeAt{&u.CreateTime}, &u.EmailAddr, &u.Name, &u.Authenticator, &u.PasswdHash,
		&u.CrossProjectID, &u.Venue, &u.GlobalPrefs, &u.ProjectPrefs, &u.TotalCredit, &u.ExpavgCredit,
		timeAt{&u.ExpavgTime}, timeAt{&u.BannedTime}, &u.BanReason, timeAt{&u.DeletedTime})
}

const insertUser = `
INSERT INTO "user" (create_time, email_addr, name, authenticator, passwd_hash, cross_project_id,
	venue, global_prefs, project_prefs)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// InsertUser adds an account and returns its id, or ErrExists when the e-mail
// address is taken.
func (t *Tx) InsertUser(u User) (int64, error) {
	id, err := t.insert(insertUser, unix(u.CreateTime), u.EmailAddr, u.Name, string(u.Authenticator),
		u.PasswdHash, u.CrossProjectID, u.Venue, u.GlobalPrefs, u.ProjectPrefs)
	if err != nil {
		return 0, fmt.Errorf("user %s: %w", u.EmailAddr, err)
	}
	return id, nil
}

const (
	userByID    = `SELECT ` + userColumns + ` FROM "user" WHERE id = $1`
	userByEmail = `SELECT ` + userColumns + ` FROM "user" WHERE email_addr = $1`
	userByKey   = `SELECT ` + userColumns + ` FROM "user" WHERE authenticator = $1`
)

// User returns an account, or ErrNotFound.
func (t *Tx) User(id int64) (User, error) { return one(t, scanUser, userByID, id) }

// UserByEmail returns an account, or ErrNotFound. email is in lower case.
func (t *Tx) UserByEmail(email string) (User, error) { return one(t, scanUser, userByEmail, email) }

// UserByKey returns the account with this key, or ErrNotFound. Weak keys are
// not known here.
func (t *Tx) UserByKey(key protocol.Authenticator) (User, error) {
	return one(t, scanUser, userByKey, string(key))
}

const usersToChange = `SELECT ` + userColumns + ` FROM "user" WHERE id IN ` + ids + ` ORDER BY id /* FOR UPDATE */`

// UsersToChange is for accounts what HostsToChange is for hosts.
func (t *Tx) UsersToChange(list []int64) (map[int64]User, error) {
	users, err := all(t, scanUser, usersToChange, jsonList(list))
	out := make(map[int64]User, len(users))
	for _, u := range users {
		out[u.ID] = u
	}
	return out, err
}

const addUserCredit = `
UPDATE "user" SET total_credit = total_credit + $2, expavg_credit = $3, expavg_time = $4 WHERE id = $1`

// AddUserCredit adds to a user's total and replaces the recent average.
func (t *Tx) AddUserCredit(id int64, credit, expavg float64, now time.Time) error {
	return t.execOne(addUserCredit, id, credit, expavg, unix(now))
}

const setPasswdHash = `UPDATE "user" SET passwd_hash = $2 WHERE id = $1`

// SetPasswdHash replaces the stored password hash. Weak keys made from the old
// one end with it.
func (t *Tx) SetPasswdHash(id int64, hash string) error { return t.execOne(setPasswdHash, id, hash) }

const setAuthenticator = `UPDATE "user" SET authenticator = $2 WHERE id = $1`

// SetAuthenticator replaces an account's key. Weak keys made from the old one end with
// it.
func (t *Tx) SetAuthenticator(id int64, key protocol.Authenticator) error {
	return t.execOne(setAuthenticator, id, string(key))
}

const setGlobalPrefs = `UPDATE "user" SET global_prefs = $3 WHERE id = $1 AND global_prefs = $2`

// SetGlobalPrefs replaces a user's general preferences, or returns ErrLost if
// they are no longer old.
func (t *Tx) SetGlobalPrefs(id int64, old, prefs string) error {
	return t.execOne(setGlobalPrefs, id, old, prefs)
}
