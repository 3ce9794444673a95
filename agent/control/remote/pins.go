package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/words"
)

// pins are the other paired computers, in a file that people may read and delete entries from. It
// is read each time, so that a revoked computer loses access at once.
type pins struct{ path string }

type pinFile struct {
	Computers []control.Paired `toml:"computer"`
}

func pinsIn(dir string) pins { return pins{filepath.Join(dir, "paired.toml")} }

func (p pins) all() ([]control.Paired, error) {
	src, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var f pinFile
	if err := toml.Unmarshal(src, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	return f.Computers, nil
}

// named returns the fingerprint of a computer, or "" if no computer has that name.
func (p pins) named(name string) (string, error) {
	all, err := p.all()
	for _, c := range all {
		if c.Name == name {
			return c.Fingerprint, err
		}
	}
	return "", err
}

// by returns the name of the computer with a fingerprint, or "" if it is unknown.
func (p pins) by(fingerprint string) (string, error) {
	all, err := p.all()
	for _, c := range all {
		if c.Fingerprint == fingerprint {
			return c.Name, err
		}
	}
	return "", err
}

// add adds a computer. It replaces earlier entries with its name or fingerprint.
func (p pins) add(c control.Paired) error {
	all, err := p.all()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o control.Paired) bool { return o.Name == c.Name || o.Fingerprint == c.Fingerprint })
	return p.write(append(all, c))
}

func (p pins) remove(name string) error {
	all, err := p.all()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(c control.Paired) bool { return c.Name == name })
	if i < 0 {
		return words.Refuse(words.T("no paired computer is called {name}; to list them: starling remote list", "name", strconv.Quote(name)))
	}
	return p.write(slices.Delete(all, i, i+1))
}

func (p pins) write(all []control.Paired) error {
	var b bytes.Buffer
	b.WriteString("# Computers that this one is paired with for remote control. Delete an entry to\n# revoke its access.\n")
	if err := toml.NewEncoder(&b).Encode(pinFile{all}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(p.path, b.Bytes(), 0o600)
}
