package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/db"
)

// A User is an account.
type User struct {
	ID             int64
	CreateTime     time.Time
	EmailAddr      string // lower case
	Name           string
	Authenticator  protocol.Authenticator
	PasswdHash     string // a slow hash of the passwd_hash that clients send ("": no password)
	CrossProjectID string
	Venue          string
	GlobalPrefs    string // raw XML
	ProjectPrefs   string // raw XML
	TotalCredit    float64
	ExpavgCredit   float64
	ExpavgTime     time.Time
	BannedTime     time.Time // zero: it is not banned
	BanReason      string    // for its owner to read ("": not given)
	DeletedTime    time.Time // zero: it is not deleted
	TeamID         int64     // 0: of no team
	HideHosts      bool      // others may not see which computers are his
	NoExport       bool      // its credit is not exported to sites of statistics
	ConfirmedTime  time.Time // when the e-mail address was confirmed (zero: not yet)
	Trusted        bool      // its results decide about suspicious ones
}

// Banned reports whether an account is banned or deleted, and so excluded from the project.
func (u *User) Banned() bool { return !u.BannedTime.IsZero() || !u.DeletedTime.IsZero() }

var userColumns = columns[User]{
	{"id", func(u *User) any { return &u.ID }},
	{"create_time", func(u *User) any { return (*unix)(&u.CreateTime) }},
	{"email_addr", func(u *User) any { return &u.EmailAddr }},
	{"name", func(u *User) any { return &u.Name }},
	{"authenticator", func(u *User) any { return &u.Authenticator }},
	{"passwd_hash", func(u *User) any { return &u.PasswdHash }},
	{"cross_project_id", func(u *User) any { return &u.CrossProjectID }},
	{"venue", func(u *User) any { return &u.Venue }},
	{"global_prefs", func(u *User) any { return &u.GlobalPrefs }},
	{"project_prefs", func(u *User) any { return &u.ProjectPrefs }},
	{"total_credit", func(u *User) any { return &u.TotalCredit }},
	{"expavg_credit", func(u *User) any { return &u.ExpavgCredit }},
	{"expavg_time", func(u *User) any { return (*unix)(&u.ExpavgTime) }},
	{"banned_time", func(u *User) any { return (*unix)(&u.BannedTime) }},
	{"ban_reason", func(u *User) any { return &u.BanReason }},
	{"deleted_time", func(u *User) any { return (*unix)(&u.DeletedTime) }},
	{"teamid", func(u *User) any { return &u.TeamID }},
	{"hide_hosts", func(u *User) any { return (*flag)(&u.HideHosts) }},
	{"no_export", func(u *User) any { return (*flag)(&u.NoExport) }},
	{"confirmed_time", func(u *User) any { return (*unix)(&u.ConfirmedTime) }},
	{"trusted", func(u *User) any { return (*flag)(&u.Trusted) }},
}

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

var setPasswdHash = db.Update(`"user"`, "passwd_hash = $2")

// SetPasswdHash replaces the stored password hash. Weak keys made from the old
// one end with it.
func (t *Tx) SetPasswdHash(id int64, hash string) error { return t.execOne(setPasswdHash, id, hash) }

var setAuthenticator = db.Update(`"user"`, "authenticator = $2")

// SetAuthenticator replaces an account's key. Weak keys made from the old one end with
// it.
func (t *Tx) SetAuthenticator(id int64, key protocol.Authenticator) error {
	return t.execOne(setAuthenticator, id, string(key))
}

var setGlobalPrefs = db.Update(`"user"`, "global_prefs = $3", "global_prefs = $2")

// SetGlobalPrefs replaces a user's general preferences, or returns ErrLost if they differ from old.
func (c *Changes) SetGlobalPrefs(id int64, old, prefs string) error {
	return c.execOne(setGlobalPrefs, id, old, prefs)
}

var (
	setProjectPrefs = db.Update(`"user"`, "project_prefs = $3", "project_prefs = $2")
	setUserName     = db.Update(`"user"`, "name = $2", "deleted_time = 0")
	setPrivacy      = db.Update(`"user"`, "hide_hosts = $2, no_export = $3")
	setEmail        = db.Update(`"user"`, "email_addr = $3, passwd_hash = $4, confirmed_time = $5", "email_addr = $2 AND deleted_time = 0")
	confirmEmail    = db.Update(`"user"`, "confirmed_time = $3", "email_addr = $2")
)

// SetProjectPrefs replaces a user's preferences for the project, or returns ErrLost if they differ
// from old.
func (t *Tx) SetProjectPrefs(id int64, old, prefs string) error {
	return t.execOne(setProjectPrefs, id, old, prefs)
}

// SetUserName changes the name that others see.
func (t *Tx) SetUserName(id int64, name string) error { return t.execOne(setUserName, id, name) }

// SetPrivacy sets what others may see of a user.
func (t *Tx) SetPrivacy(id int64, hideHosts, noExport bool) error {
	return t.execOne(setPrivacy, id, flag(hideHosts).Int(), flag(noExport).Int())
}

// SetEmail replaces an account's address, and the password's hash, which depends on the address. It
// returns ErrLost if the address differs from old, and ErrExists if another account has the new
// one.
func (t *Tx) SetEmail(id int64, old, email, passwdHash string, confirmed time.Time) error {
	if u, err := t.UserByEmail(email); err == nil && u.ID != id {
		return ErrExists
	}
	return t.execOne(setEmail, id, old, email, passwdHash, unix(confirmed))
}

// ConfirmEmail notes that an account's address is its owner's, or returns ErrLost if it has
// another by now.
func (t *Tx) ConfirmEmail(id int64, email string, now time.Time) error {
	return t.execOne(confirmEmail, id, email, unix(now))
}
