package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// maxText bounds the texts of a backup that are read into memory.
const maxText = 1 << 30

// A source yields the files of a backup: the head first, then the settings, the checksums
// last.
type source interface {
	// next returns the next file, whose content is good until the one after it is asked
	// for, or io.EOF.
	next() (entry, io.Reader, error)
	close() error
}

// openSource opens a backup, a folder or a file.
func openSource(from string) (source, error) {
	st, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return openFolder(from)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	a := &archiveSource{f: f}
	if magic, _ := r.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		a.t = tar.NewReader(z)
		return a, nil
	}
	a.t = tar.NewReader(r)
	return a, nil
}

type archiveSource struct {
	f *os.File
	t *tar.Reader
}

func (a *archiveSource) close() error { return a.f.Close() }

func (a *archiveSource) next() (entry, io.Reader, error) {
	for {
		h, err := a.t.Next()
		if err != nil {
			return entry{}, nil, err
		}
		switch h.Typeflag {
		case tar.TypeReg:
			return entry{h.Name, h.Size, h.FileInfo().Mode().Perm(), h.ModTime}, a.t, nil
		case tar.TypeDir: // as when somebody packs a folder
		default:
			return entry{}, nil, fmt.Errorf("%.200q is no plain file", h.Name)
		}
	}
}

// A folderSource yields the files that the checksums name.
type folderSource struct {
	root  *os.Root
	names []string
	open  *os.File
}

func openFolder(dir string) (*folderSource, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	text, err := root.ReadFile(sumsName)
	if err != nil {
		_ = root.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrIncomplete
		}
		return nil, err
	}
	listed, err := parseSums(string(text))
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	var names []string
	for name := range listed {
		if name != headName && name != settingsName {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return &folderSource{root: root, names: append(append([]string{headName, settingsName}, names...), sumsName)}, nil
}

func (f *folderSource) close() error {
	if f.open != nil {
		_ = f.open.Close()
	}
	return f.root.Close()
}

func (f *folderSource) next() (entry, io.Reader, error) {
	if f.open != nil {
		_ = f.open.Close()
		f.open = nil
	}
	if len(f.names) == 0 {
		return entry{}, nil, io.EOF
	}
	name := f.names[0]
	f.names = f.names[1:]
	var err error
	if f.open, err = f.root.Open(filepath.FromSlash(name)); err != nil {
		f.open = nil
		return entry{}, nil, err
	}
	st, err := f.open.Stat()
	if err != nil {
		return entry{}, nil, err
	}
	if !st.Mode().IsRegular() {
		return entry{}, nil, fmt.Errorf("%.200q is no plain file", name)
	}
	return entry{name, st.Size(), st.Mode().Perm(), st.ModTime()}, f.open, nil
}

// each reads a backup. begin gets the head and the settings, and returns a function that takes all
// other files. each returns an error if the backup is incomplete or was changed. Files taken by
// then are worthless.
func each(from string, begin func(h Head, settings []byte) (take func(e entry, r io.Reader) error, err error)) (rep Report, err error) {
	src, err := openSource(from)
	if err != nil {
		return rep, fmt.Errorf("read backup %s: %w", from, err)
	}
	defer func() { err = errors.Join(err, src.close()) }()
	r := &reader{src: src, found: make(sums)}
	head, err := r.text(headName)
	if err != nil {
		return rep, fmt.Errorf("read backup %s: %w", from, err)
	}
	if rep.Head, err = parseHead(head); err != nil {
		return rep, fmt.Errorf("read backup %s: %w", from, err)
	}
	settings, err := r.text(settingsName)
	if err != nil {
		return rep, fmt.Errorf("read backup %s: %w", from, err)
	}
	take, err := begin(rep.Head, settings)
	if err != nil {
		return rep, err
	}
	if err := r.rest(take); err != nil {
		return rep, fmt.Errorf("read backup %s: %w", from, err)
	}
	rep.Files, rep.Bytes = len(r.found), r.bytes
	return rep, nil
}

// A reader adds checksums up as it reads.
type reader struct {
	src   source
	found sums
	bytes int64
}

// text reads the next file, which has that name.
func (r *reader) text(want string) (b []byte, err error) {
	defer func() {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, tar.ErrHeader) {
			err = fmt.Errorf("this is not a backup of a project, or it was cut off (%w)", err)
		}
	}()
	e, content, err := r.src.next()
	if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) || err == nil && e.name != want {
		return nil, fmt.Errorf("no %s where it should be: this is not a backup of a project", want)
	}
	if err != nil {
		return nil, err
	}
	if e.size > maxText {
		return nil, fmt.Errorf("%s has %d bytes", e.name, e.size)
	}
	b, err = io.ReadAll(io.LimitReader(content, maxText))
	if err == nil {
		r.found[e.name] = sha256.Sum256(b)
		r.bytes += e.size
	}
	return b, err
}

// rest reads all other files, and compares the checksums.
func (r *reader) rest(take func(e entry, r io.Reader) error) error {
	for {
		e, content, err := r.src.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return ErrIncomplete
		case err != nil:
			return err
		case !valid(e.name):
			return fmt.Errorf("%.200q is not a name for a file of a backup", e.name)
		}
		if e.name == sumsName {
			return r.compare(content)
		}
		if _, twice := r.found[e.name]; twice {
			return fmt.Errorf("%s is there twice", e.name)
		}
		h := sha256.New()
		tee := io.TeeReader(content, h)
		err = take(e, tee)
		if err == nil {
			_, err = io.Copy(io.Discard, tee) // content that take did not read
		}
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return ErrIncomplete
		case err != nil:
			return fmt.Errorf("%s: %w", e.name, err)
		}
		r.found[e.name] = [32]byte(h.Sum(nil))
		r.bytes += e.size
	}
}

func (r *reader) compare(content io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(content, maxText))
	if err != nil {
		return err
	}
	want, err := parseSums(string(text))
	if err != nil {
		return err
	}
	for name, sum := range want {
		switch found, ok := r.found[name]; {
		case !ok:
			return fmt.Errorf("%s is missing", name)
		case found != sum:
			return fmt.Errorf("%s has changed since the backup was made", name)
		}
	}
	for name := range r.found {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s has no checksum", name)
		}
	}
	return nil
}
