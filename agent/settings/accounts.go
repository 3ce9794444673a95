package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// Accounts is the result of reading the account files.
type Accounts struct {
	// InForce has the accounts in effect, by master URL: as in their files, or, if a file is
	// missing or has errors, as in its last good version.
	InForce map[string]Account
	// Missing has the accounts whose file is gone although no person asked to detach: master URL →
	// the path of the file.
	Missing map[string]string
	// Detached are the accounts that were removed on purpose and can be restored,
	// by master URL. One that is also InForce was attached again.
	Detached map[string]Account
	// Rekeyed are the master URLs of the accounts whose key differs from the last good version.
	Rekeyed []string

	files []accountFile // the good ones
}

// ReadAccounts reads all account files and the copies of their last good versions. It changes
// nothing. The error has the faults of the files. The accounts are usable all the same.
func ReadAccounts(dataDir string) (Accounts, error) {
	files, bad, err := readAccountFiles(filepath.Join(dataDir, AccountsDir))
	errs := []error{err}
	a := Accounts{InForce: make(map[string]Account), Missing: make(map[string]string), Detached: make(map[string]Account)}
	detached, _, _ := readAccountFiles(detachedDir(dataDir))
	for _, f := range detached {
		a.Detached[f.account.MasterURL] = f.account
	}
	kept, _, _ := readAccountFiles(keptAccountsDir(dataDir))
	for _, f := range files {
		if err := a.readdressed(f, kept); err != nil {
			errs, bad = append(errs, err), append(bad, f.path)
			continue
		}
		a.files = append(a.files, f)
		a.InForce[f.account.MasterURL] = f.account
	}
	for _, f := range kept {
		u := f.account.MasterURL
		if now, good := a.InForce[u]; good {
			if now.Authenticator != f.account.Authenticator {
				a.Rekeyed = append(a.Rekeyed, u)
			}
			continue
		}
		if _, gone := a.Detached[u]; gone {
			continue
		}
		a.InForce[u] = f.account
		path := filepath.Join(dataDir, AccountsDir, filepath.Base(f.path))
		switch {
		case slices.Contains(bad, path):
			errs = append(errs, staysInEffect(path, keptAt(f.path)))
		case len(bad) == 0 || !slices.Contains(bad, filepath.Join(dataDir, AccountsDir)):
			a.Missing[u] = path
		}
	}
	return a, errors.Join(errs...)
}

// readdressed is the error about an account file whose master URL was changed from http to https or
// back. The two count as two projects, which cannot both be attached, because they would have one folder.
func (a Accounts) readdressed(f accountFile, kept []accountFile) error {
	u := f.account.MasterURL
	for _, k := range kept {
		was := k.account.MasterURL
		if _, gone := a.Detached[was]; !gone && was != u && SameFolder(was, u) {
			return words.Refuse(words.T("{path}: the address was {was}; first detach that project, with its tasks: starling detach {was}", "path", f.path, "was", was))
		}
	}
	return nil
}

// SameFolder reports whether two master URLs have one folder for their files and one name for
// their account file, as with http and https.
func SameFolder(x, y string) bool { return protocol.EscapeURL(x) == protocol.EscapeURL(y) }

// Keep copies the good account files, so that their content outlasts a mistake. The copies of
// missing and faulty files stay as they are.
func (a Accounts) Keep(dataDir string) error {
	dir := keptAccountsDir(dataDir)
	var errs []error
	kept, _, _ := readAccountFiles(dir)
	for _, f := range a.files {
		name := filepath.Base(f.path)
		errs = append(errs, keep(filepath.Join(dir, name), f.text), keep(overridePath(filepath.Join(dir, name)), f.override))
		for _, k := range kept { // the file was renamed
			if k.account.MasterURL == f.account.MasterURL && filepath.Base(k.path) != name {
				errs = append(errs, removeBoth(k.path))
			}
		}
	}
	return errors.Join(errs...)
}

// RemoveAccount deletes the account file of a project, which detaches it. The file may have any
// name, because its content counts. RestoreAccount reverses it until ForgetAccount.
func RemoveAccount(dataDir, masterURL string) error {
	f, err := findAccountFile(dataDir, masterURL)
	if err != nil {
		return err
	}
	var there []string // the files to remove
	if f.path != "" {
		there = append(there, f.path)
	}
	kept, _, _ := readAccountFiles(keptAccountsDir(dataDir))
	for _, k := range kept {
		if k.account.MasterURL != masterURL {
			continue
		}
		there = append(there, k.path)
		if f.path == "" { // missing or faulty: its last good version is detached
			f = k
			path := filepath.Join(dataDir, AccountsDir, filepath.Base(k.path))
			if _, err := readAccountFile(path); err != nil { // a good one is about another address
				there = append(there, path)
			}
		}
	}
	if f.path == "" {
		return NotAttached(masterURL)
	}
	to := detachedPath(dataDir, masterURL)
	if err := errors.Join(keep(to, f.text), keep(overridePath(to), f.override)); err != nil {
		return err
	}
	for _, path := range there {
		if err := removeBoth(path); err != nil {
			return err
		}
	}
	return nil
}

// RestoreAccount takes RemoveAccount back.
func RestoreAccount(dataDir, masterURL string) error {
	from := detachedPath(dataDir, masterURL)
	f, err := readAccountFile(from)
	if err != nil {
		return words.Explain(err, words.T("{url}: cannot attach again: {why}", "url", masterURL, "why", sysfault.Text(err)))
	}
	to := AccountPath(dataDir, masterURL)
	if _, err := os.Lstat(to); err == nil {
		return attached(masterURL, to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if f.override != nil { // first, or the account would be in effect for an instant without the changes by tools
		if err := atomicfile.Write(overridePath(to), f.override, 0o600); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(to, f.text, 0o600); err != nil {
		return err
	}
	return removeBoth(from)
}

// ForgetAccount drops what RestoreAccount would need.
func ForgetAccount(dataDir, masterURL string) error {
	return removeBoth(detachedPath(dataDir, masterURL))
}

// An accountFile is a good account file with its override.
type accountFile struct {
	path           string
	text, override []byte // override: nil without one
	account        Account
}

// readAccountFiles reads the account files of a folder. It returns the good ones, the paths of bad
// ones, and all faults. A folder that cannot be read is a fault, too: unreadable must not look like
// empty.
func readAccountFiles(dir string) (good []accountFile, bad []string, err error) {
	paths, err := accountFiles(dir)
	if err != nil {
		return nil, []string{dir}, err
	}
	var errs []error
	seen := make(map[string]string)
	for _, path := range paths {
		f, err := readAccountFile(path)
		if _, errStat := os.Lstat(path); err != nil && errors.Is(errStat, fs.ErrNotExist) {
			continue // an editor's save put it away just now
		}
		name := protocol.EscapeURL(f.account.MasterURL)
		if err == nil && seen[name] != "" {
			err = fmt.Errorf("%s: %s already has the account file %s", path, f.account.MasterURL, seen[name])
		}
		if err != nil {
			errs = append(errs, err)
			bad = append(bad, path)
			continue
		}
		seen[name] = path
		good = append(good, f)
	}
	return good, bad, errors.Join(errs...)
}

func readAccountFile(path string) (accountFile, error) {
	f := accountFile{path: path}
	var err error
	if f.text, err = foreigndir.ReadFile(path, MaxFile); err != nil {
		return f, err
	}
	f.account, err = parseAccount(path, f.text)
	if err == nil || f.account.MasterURL != "" { // all faults are reported at once
		var errOver error
		f.override, errOver = foreigndir.ReadFile(overridePath(path), MaxFile)
		switch {
		case errOver == nil:
			errOver = f.account.override(overridePath(path), f.override)
		case errors.Is(errOver, fs.ErrNotExist):
			errOver = nil
		}
		err = errors.Join(err, errOver)
	}
	f.account.NoMoreWork = f.account.NoMoreWork || f.account.DetachWhenDone
	return f, err
}

// findAccountFile returns the good account file of a project. Its path is "" if the project has
// none.
func findAccountFile(dataDir, masterURL string) (accountFile, error) {
	files, bad, err := readAccountFiles(filepath.Join(dataDir, AccountsDir))
	if slices.Contains(bad, filepath.Join(dataDir, AccountsDir)) {
		return accountFile{}, err
	}
	for _, f := range files {
		if f.account.MasterURL == masterURL {
			return f, nil
		}
	}
	return accountFile{}, nil
}

// LoadAccounts reads all account files. Each bad one is part of the error, and the good ones are
// returned all the same, so that one mistake does not stop the work for the others. It also returns
// the paths of bad files.
func LoadAccounts(dataDir string) (good []Account, bad []string, err error) {
	files, bad, err := readAccountFiles(filepath.Join(dataDir, AccountsDir))
	for _, f := range files {
		good = append(good, f.account)
	}
	return good, bad, err
}

// All lists the accounts in force by their addresses.
func (a Accounts) All() []Account {
	var all []Account
	for _, u := range slices.Sorted(maps.Keys(a.InForce)) {
		all = append(all, a.InForce[u])
	}
	return all
}
