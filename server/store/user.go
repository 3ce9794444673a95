package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/db"
)

// A User is an account.
type User struct {
	ID             int64                  `db:"id"`
	CreateTime     time.Time              `db:"create_time"`
	EmailAddr      string                 `db:"email_addr"` // lower case
	Name           string                 `db:"name"`
	Authenticator  protocol.Authenticator `db:"authenticator"`
	PasswdHash     string                 `db:"passwd_hash"` // a slow hash of the passwd_hash that clients send ("": no password)
	CrossProjectID string                 `db:"cross_project_id"`
	Venue          string                 `db:"venue"`
	GlobalPrefs    string                 `db:"global_prefs"`  // raw XML
	ProjectPrefs   string                 `db:"project_prefs"` // raw XML
	TotalCredit    float64                `db:"total_credit"`
	ExpavgCredit   float64                `db:"expavg_credit"`
	ExpavgTime     time.Time              `db:"expavg_time"`
	BannedTime     time.Time              `db:"banned_time"`    // zero: it is not banned
	BanReason      string                 `db:"ban_reason"`     // for its owner to read ("": not given)
	DeletedTime    time.Time              `db:"deleted_time"`   // zero: it is not deleted
	TeamID         int64                  `db:"teamid"`         // 0: of no team
	HideHosts      bool                   `db:"hide_hosts"`     // others may not see which computers are his
	NoExport       bool                   `db:"no_export"`      // its credit is not exported to sites of statistics
	ConfirmedTime  time.Time              `db:"confirmed_time"` // when the e-mail address was confirmed (zero: not yet)
	Trusted        bool                   `db:"trusted"`        // its results decide about suspicious ones
}

// Banned reports whether an account is banned or deleted, and so excluded from the project.
func (u *User) Banned() bool { return !u.BannedTime.IsZero() || !u.DeletedTime.IsZero() }

var userColumns = db.ColumnsOf[User]()

var insertUser = userColumns.InsertInto(`"user"`, `create_time, email_addr, name, authenticator, passwd_hash,
	cross_project_id, venue, global_prefs, project_prefs`)

// InsertUser adds an account and returns its id, or ErrExists when the e-mail
// address is taken.
func (t *Tx) InsertUser(u User) (int64, error) {
	id, err := t.insert(insertUser.Statement, insertUser.Args(&u)...)
	if err != nil {
		return 0, fmt.Errorf("user %s: %w", u.EmailAddr, err)
	}
	return id, nil
}

var (
	userByID    = `SELECT ` + userColumns.List() + ` FROM "user" WHERE id = $1`
	userByEmail = `SELECT ` + userColumns.List() + ` FROM "user" WHERE email_addr = $1`
	userByKey   = byText(`SELECT `+userColumns.List()+` FROM "user" WHERE authenticator`, "")
)

// User returns an account, or ErrNotFound.
func (t *View) User(id int64) (User, error) { return one(t, userColumns.Scan, userByID, id) }

// UserByEmail returns an account, or ErrNotFound. email is in lower case.
func (t *View) UserByEmail(email string) (User, error) {
	return one(t, userColumns.Scan, userByEmail, email)
}

// UserByKey returns the account with this key, or ErrNotFound. Weak keys are
// not known here.
func (t *View) UserByKey(key protocol.Authenticator) (User, error) {
	return one(t, userColumns.Scan, userByKey.one, string(key))
}

// UsersByKey asks for accounts by their keys.
func UsersByKey(keys []string, found func(User)) Question {
	return withTexts(userByKey, keys, userColumns.Scan, found)
}

var usersToChange = `SELECT ` + userColumns.List() + ` FROM "user" WHERE id IN ` + ids + ` ORDER BY id /* FOR UPDATE */`

// UsersToChange is HostsToChange for accounts.
func (t *Tx) UsersToChange(list []int64) (map[int64]User, error) {
	users, err := all(t.View, userColumns.Scan, usersToChange, jsonList(list))
	out := make(map[int64]User, len(users))
	for _, u := range users {
		out[u.ID] = u
	}
	return out, err
}

var addUserCredit = db.Update(`"user"`, "total_credit = total_credit + $2, expavg_credit = $3, expavg_time = $4")

// AddUserCredit adds to a user's total and replaces the recent average.
func (t *Tx) AddUserCredit(id int64, credit, expavg float64, now time.Time) error {
	return t.execOne(addUserCredit, id, credit, expavg, unix(now))
}

var setGlobalPrefs = db.Update(`"user"`, "global_prefs = $3", "global_prefs = $2")

// SetGlobalPrefs replaces a user's general preferences, or returns ErrLost if they differ from old.
func (c *Changes) SetGlobalPrefs(id int64, old, prefs string) error {
	return c.execOne(setGlobalPrefs, id, old, prefs)
}

var saveUser = userColumns.Save(`"user"`, "", `email_addr, name, authenticator, passwd_hash, cross_project_id, venue, global_prefs,
	project_prefs, banned_time, ban_reason, deleted_time, teamid, hide_hosts, no_export, confirmed_time, trusted`,
	"email_addr, deleted_time")

// SaveUser stores the changes of an account, except its credit. It returns ErrLost for an account that was
// deleted or has got another address, and ErrExists if another account has the new address. Weak keys made
// from an old key or password end with it.
func (t *Tx) SaveUser(old, now User) error {
	if !old.DeletedTime.IsZero() {
		return fmt.Errorf("user %d was deleted: %w", old.ID, ErrLost)
	}
	return save(t.Changes, saveUser, &old, &now)
}
