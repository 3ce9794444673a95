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
	"github.com/starling-grid/starling/protocol"
)

// Accounts is the combined content of the account files.
type Accounts struct {
	// InForce has the accounts in force, by master URL: the content of their files. If a file is
	// missing or has errors, its previous content stays in effect.
	InForce map[string]Account
	// Missing has the accounts whose file is missing, although no detach was requested: master URL
	// → the path where it was.
	Missing map[string]string
	// Detached are the accounts that were removed on purpose and can be restored,
	// by master URL. One that is also InForce was attached again.
	Detached map[string]Account

	files []accountFile // the good ones
}

// ReadAccounts reads all account files and their copies. It changes nothing. The error has the
// faults of the files. The accounts are good all the same.
func ReadAccounts(dataDir string) (Accounts, error) {
	files, bad, err := readAccountFiles(filepath.Join(dataDir, AccountsDir))
	errs := []error{err}
	a := Accounts{InForce: make(map[string]Account), Missing: make(map[string]string), Detached: make(map[string]Account), files: files}
	for _, f := range files {
		a.InForce[f.account.MasterURL] = f.account
	}
	detached, _, _ := readAccountFiles(detachedDir(dataDir))
	for _, f := range detached {
		a.Detached[f.account.MasterURL] = f.account
	}
	kept, _, _ := readAccountFiles(keptAccountsDir(dataDir))
	for _, f := range kept {
		u := f.account.MasterURL
		if _, good := a.InForce[u]; good {
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

// Keep makes copies of the good account files, so that their content survives a mistake. The copies
// of missing and faulty files stay as they are.
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
// name, only its content counts. RestoreAccount can undo that until ForgetAccount.
func RemoveAccount(dataDir, masterURL string) error {
	f, err := findAccountFile(dataDir, masterURL)
	if err != nil {
		return err
	}
	var there []string // files to remove
	if f.path != "" {
		there = append(there, f.path)
	}
	kept, _, _ := readAccountFiles(keptAccountsDir(dataDir))
	for _, k := range kept {
		if k.account.MasterURL != masterURL {
			continue
		}
		there = append(there, k.path)
		if f.path == "" { // missing or faulty: its previous content is detached
			f = k
			there = append(there, filepath.Join(dataDir, AccountsDir, filepath.Base(k.path)))
		}
	}
	if f.path == "" {
		return fmt.Errorf("%s: %w", masterURL, ErrNotAttached)
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
		return fmt.Errorf("%s: cannot attach again: %w", masterURL, err)
	}
	to := AccountPath(dataDir, masterURL)
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s: %w (%s)", masterURL, ErrAttached, to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if f.override != nil { // first: otherwise the account would be in force for an instant without the changes by tools
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

// An accountFile is a correct one, with its override.
type accountFile struct {
	path           string
	text, override []byte // override is nil if there is none
	account        Account
}

// readAccountFiles reads the account files of a folder. It returns the good ones, the paths of bad
// ones, and their faults. A folder that cannot be read counts as a bad one: unreadable must not
// look like empty.
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

// findAccountFile returns the good account file of a project. Its path is "" if there is none.
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

// LoadAccounts reads all account files. Each bad one is part of the error. The good ones are
// returned all the same, so that one mistake does not stop the others' work. It also returns the
// paths of bad files.
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
