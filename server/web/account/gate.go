package account

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
)

// A Gate lets people in: it makes accounts, judges passwords and keeps visits, and bounds
// how much of each a stranger gets. Its methods may be called concurrently.
type Gate struct {
	Rules
	Store *store.Store
	Log   *slog.Logger
	// Made is called when an account was made, if it is not nil.
	Made func(r *http.Request, u store.User)

	guesses limit.Rate[guess]      // of the password of one account, from one address
	tries   limit.Rate[netip.Addr] // of account calls and passwords of all accounts
	made    limit.Rate[netip.Addr] // accounts
	hashing hashing
}

// Rules are a project's rules for its accounts.
type Rules struct {
	MasterURL string
	Secret    []byte // seals links, and is the same in all processes of a project
	Settings
}

// A guess is at an account's password.
type guess struct {
	email [sha256.Size]byte // hash of the entered address, which may belong to no account
	from  netip.Addr
}

// Account calls and passwords that an address may try for all accounts together: so
// many at once, and one more after each period.
const (
	tryBurst = 120
	tryEvery = time.Second
)

// NewGate returns a gate to the accounts of a database.
func NewGate(st *store.Store, log *slog.Logger, rules Rules) *Gate {
	g := &Gate{Rules: rules, Store: st, Log: log}
	g.guesses.Burst, g.guesses.Every = rules.MaxWrongPasswords, time.Minute
	if rules.MaxWrongPasswords > 0 {
		g.tries.Burst, g.tries.Every = tryBurst, tryEvery
	}
	if n := rules.MaxAccountsPerAddressDay; n > 0 {
		g.made.Burst, g.made.Every = n, 24*time.Hour/time.Duration(n)
	}
	g.hashing.free = max(1, runtime.GOMAXPROCS(0)/2)
	return g
}

// ErrGuesses means that an account's password was tried too often. Clients treat the number as a
// temporary error.
var ErrGuesses = Refuse(protocol.ErrNumProjectDown, words.T("too many wrong passwords for this account: wait a few minutes, or use the account key"))

// ErrWrong is the answer to a wrong password, and on pages to an unknown address too.
var ErrWrong = Refuse(protocol.ErrNumBadPassword, words.T("Invalid password"))

// noPassword is a hash that matches no password. It is compared if there is no account, so that the
// answer takes as long.
var noPassword = sync.OnceValue(func() []byte {
	hash, err := bcrypt.GenerateFromPassword([]byte(randomHex()), HashCost)
	if err != nil {
		panic(err) // the text is short enough
	}
	return hash
})

// Try counts an account call of an address, and returns an error if it makes too many.
func (g *Gate) Try(r *http.Request) error {
	from := limit.Network(limit.ClientOf(r))
	if wait, ok := g.tries.Take(from, time.Now()); !ok {
		g.Log.Warn("too many account calls", "ip", from, "wait", wait)
		return Refuse(protocol.ErrNumProjectDown, words.T("too many requests from your address: wait a minute"))
	}
	return nil
}

// Prove returns the account with this address if passwdHash proves that its sender owns
// it: by the password, or by the key as BOINC also allows. Passwords are checked a few at
// a time, as each takes a processor for a while, and guesses are rationed by account and
// address together: a stranger's do not keep the owner out.
func (g *Gate) Prove(r *http.Request, email, passwdHash string) (Proof, error) {
	p, err := g.owner(r, email, passwdHash)
	if err == nil {
		err = welcome(p.User)
	}
	if err != nil {
		return Proof{}, err
	}
	return p, nil
}

// welcome returns an error if an account is banned, for its owner to read.
func welcome(u store.User) error {
	if !u.Banned() {
		return nil
	}
	why := words.T("The project has banned this account")
	if u.BanReason != "" {
		why = words.T("The project has banned this account: {reason}", "reason", u.BanReason)
	}
	return Refuse(protocol.ErrNumAuthenticator, why)
}

// owner is Prove for all accounts, banned ones too.
func (g *Gate) owner(r *http.Request, email, passwdHash string) (Proof, error) {
	email, passwdHash = Canonical(email), strings.ToLower(passwdHash)
	u, err := g.User(r.Context(), email)
	unknown, _ := errors.AsType[*Refusal](err)
	if err != nil && unknown == nil {
		return Proof{}, err
	}
	if unknown == nil && subtle.ConstantTimeCompare([]byte(passwdHash), []byte(protocol.PasswordHash(string(u.Authenticator), u.EmailAddr))) == 1 {
		return byPassword(u, true), nil
	}
	from := guess{sha256.Sum256([]byte(email)), limit.Network(limit.ClientOf(r))}
	if wait, ok := g.guesses.Take(from, time.Now()); !ok {
		g.Log.Warn("too many wrong passwords", "userid", u.ID, "ip", from.from, "wait", wait)
		return Proof{}, ErrGuesses
	}
	if err := g.Try(r); err != nil {
		return Proof{}, err
	}
	done, err := g.hashing.begin(r.Context(), true)
	if err != nil {
		return Proof{}, err
	}
	defer done()
	hash := []byte(u.PasswdHash)
	if len(hash) == 0 {
		hash = noPassword()
	}
	wrong := bcrypt.CompareHashAndPassword(hash, []byte(passwdHash)) != nil
	switch {
	case unknown != nil:
		return Proof{}, unknown
	case wrong:
		return Proof{}, ErrWrong
	}
	g.guesses.Renew(from)
	return byPassword(u, false), nil
}

func (g *Gate) User(ctx context.Context, email string) (u store.User, err error) {
	email = Canonical(email)
	u, err = store.Read(ctx, g.Store, func(tx *store.View) (store.User, error) { return tx.UserByEmail(email) })
	if errors.Is(err, store.ErrNotFound) {
		err = Refuse(protocol.ErrNumNotFound, words.T("not found"))
	}
	return u, err
}

// Create makes an account. It requires an invitation if the project does. Asked again with the same
// password it returns the existing account.
func (g *Gate) Create(r *http.Request, email, name, passwdHash, invitation string) (Proof, error) {
	none := Proof{}
	if g.DisableAccountCreation {
		return none, Refuse(protocol.ErrNumNoCreation, words.T("Account creation is disabled"))
	}
	if passwdHash == "" {
		return none, Refuse(protocol.ErrNumBadPassword, words.T("bad password hash"))
	}
	ctx := r.Context()
	taken := func() (Proof, error) {
		p, err := g.Prove(r, email, passwdHash)
		if refused, ok := errors.AsType[*Refusal](err); ok && refused.Num == protocol.ErrNumBadPassword {
			err = Refuse(protocol.ErrNumNotUnique, words.T("There's already an account with that email address"))
		}
		return p, err
	}
	if _, err := g.User(ctx, email); err == nil {
		return taken()
	}
	if !g.invited(invitation) {
		return none, Refuse(protocol.ErrNumNoCreation, words.T("the project takes volunteers by invitation, and this code is not valid"))
	}
	if err := g.Try(r); err != nil {
		return none, err
	}
	u, err := blank(email, name, time.Now())
	if err != nil {
		return none, err
	}
	from := limit.Network(limit.ClientOf(r))
	if wait, ok := g.made.Take(from, time.Now()); !ok {
		g.Log.Warn("too many new accounts", "ip", from, "wait", wait)
		return none, Refuse(protocol.ErrNumProjectDown, words.T("too many accounts were created from your address: try again in {time}, or ask the project to create one", "time", words.Span(wait.Round(time.Minute))))
	}
	done, err := g.hashing.begin(ctx, false)
	if err != nil {
		return none, err
	}
	u.PasswdHash, err = slowHash(passwdHash)
	done()
	if err != nil {
		return none, err
	}
	err = g.Store.Update(ctx, func(tx *store.Tx) (err error) {
		u.ID, err = tx.InsertUser(u)
		return err
	})
	if errors.Is(err, store.ErrExists) { // made by another request just now
		return taken()
	}
	if err == nil && g.Made != nil {
		g.Made(r, u)
	}
	return byPassword(u, false), err
}

// invited reports whether a code lets its bearer in.
func (g *Gate) invited(code string) bool {
	ok := len(g.Invitations) == 0
	for _, c := range g.Invitations {
		ok = subtle.ConstantTimeCompare([]byte(c), []byte(strings.TrimSpace(code))) == 1 || ok
	}
	return ok
}

// CheckPassword refuses a new password that has a fault.
func (g *Gate) CheckPassword(password string) error {
	if fault := g.PasswordFault(password); fault.Is() {
		return Refuse(protocol.ErrNumNotUnique, fault)
	}
	return nil
}

// SetPassword changes a password, and ends all visits but this one, which begins anew.
func (g *Gate) SetPassword(w http.ResponseWriter, r *http.Request, p Proof, password string) error {
	if err := g.CheckPassword(password); err != nil {
		return err
	}
	hash, err := g.Hash(r, p.EmailAddr, password)
	if err != nil {
		return err
	}
	return g.Admit(w, r, p, func(tx *store.Tx, u store.User) error {
		switch {
		case u.EmailAddr != p.EmailAddr: // which the hash includes
			return ErrWrong
		case u.Banned():
			return welcome(u)
		}
		if err := tx.EndSessions(u.ID); err != nil {
			return err
		}
		now := u
		now.PasswdHash = hash
		return tx.SaveUser(u, now)
	})
}

// Hash returns the stored form of a password, which includes the account's address. It waits for
// its turn.
func (g *Gate) Hash(r *http.Request, email, password string) (string, error) {
	done, err := g.hashing.begin(r.Context(), false)
	if err != nil {
		return "", err
	}
	defer done()
	return HashPassword(email, password)
}
