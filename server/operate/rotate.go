package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// RotateKey replaces the project's code signing key by a new one and signs the files of all app
// versions with it. Each former key signs the new one, so that hosts which have any of them accept
// it. For that the private keys must be in keys/. No server may run meanwhile, as it reads the key
// at its start: RotateKey returns project.ErrServed if one runs on this computer. It cannot detect
// servers on other computers. After a crash RotateKey, called again, resumes where it was. Until
// then the project is not served.
func RotateKey(ctx context.Context, p *project.Project) (err error) {
	done, err := p.Alone()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	keys := filepath.Join(p.Dir, project.KeysDir)
	next, present := filepath.Join(keys, project.NextKey), filepath.Join(keys, "code_sign")
	if !p.Rotating() {
		if _, err := p.SigningKey(); errors.Is(err, fs.ErrNotExist) {
			return errors.New("keys/code_sign_private is not here. It must sign the new key, or computers cannot trust that: put it there until the keys are replaced, then run this again")
		} else if err != nil {
			return err
		}
		if err := project.MakeKeys(next); err != nil {
			return err
		}
	}
	key, err := project.ReadPrivate(next + "_private")
	if errors.Is(err, fs.ErrNotExist) {
		key, err = project.ReadPrivate(present + "_private") // it was put into place
	}
	if err != nil {
		return err
	}
	if err := signAgain(ctx, p, key); err != nil {
		return err
	}
	if err := endorse(keys, key.Public().Text()); err != nil {
		return err
	}
	for _, kind := range []string{"_private", "_public"} { // the public one is last because it marks an unfinished rotation
		if err := os.Rename(next+kind, present+kind); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := atomicfile.SyncDir(keys); err != nil {
		return err
	}
	return p.ReadKeys()
}

// endorse makes the present key the last of the former ones, and has all of them sign
// the one that is offered.
func endorse(keys, offered string) error {
	file := func(name string, n int) string { return filepath.Join(keys, name+"_"+strconv.Itoa(n)) }
	present, err := project.ReadPrivate(filepath.Join(keys, "code_sign_private"))
	if err != nil {
		return err
	}
	last := 0
	for ; ; last++ {
		if _, err := os.Stat(file("old_key", last)); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
	}
	saved := present.Public().Text() == offered
	if last > 0 {
		text, err := os.ReadFile(file("old_key", last-1))
		if err != nil {
			return err
		}
		saved = saved || string(text) == present.Public().Text()
	}
	if !saved {
		if err := atomicfile.Write(file("old_key_private", last), []byte(present.Text()), 0o600); err != nil {
			return err
		}
		if err := atomicfile.Write(file("old_key", last), []byte(present.Public().Text()), 0o600); err != nil {
			return err
		}
		last++
	}
	for n := range last {
		old, err := project.ReadPrivate(file("old_key_private", n))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing. It must sign the new key, or hosts that know only its key cannot trust the new one. Restore it and run this again", file("old_key_private", n))
		}
		if err != nil {
			return err
		}
		sig, err := old.SignText(strings.TrimSpace(offered))
		if err != nil {
			return err
		}
		if err := atomicfile.Write(file("signature", n), []byte(sig), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// signAgain signs the files of all app versions.
func signAgain(ctx context.Context, p *project.Project, key *protocol.PrivateKey) error {
	versions, err := store.Read(ctx, p.Store, (*store.View).AllAppVersions)
	if err != nil {
		return err
	}
	docs := make(map[int64]string, len(versions))
	for _, v := range versions {
		if docs[v.ID], err = signDoc(ctx, p, v.XMLDoc, key); err != nil {
			return fmt.Errorf("app version %d: %w", v.ID, err)
		}
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, v := range versions {
			if err := tx.SetVersionDoc(v.ID, v.XMLDoc, docs[v.ID]); err != nil {
				return err
			}
		}
		return nil
	})
}

// signDoc replaces the signatures in the description of an app version.
func signDoc(ctx context.Context, p *project.Project, doc string, key *protocol.PrivateKey) (string, error) {
	e, err := protocol.ParseElements([]byte(doc))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, f := range e.Files {
		if f.Signature != "" {
			content, err := p.Download.Open(ctx, f.Name)
			if err != nil {
				return "", err
			}
			f.Signature, err = key.Sign(content)
			_ = content.Close()
			if err != nil {
				return "", fmt.Errorf("file %s: %w", f.Name, err)
			}
		}
		b.WriteString(f.XML())
	}
	for _, v := range e.AppVersions {
		b.WriteString(v.XML())
	}
	return b.String(), nil
}
