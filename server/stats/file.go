package stats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol/bxml"
)

// enough is how many bytes of XML are kept before they are written.
const enough = 256 << 10

// A file is XML on its way to a disk.
type file struct {
	bxml.Writer
	to io.Writer
}

// flush writes what there is, if it is much.
func (f *file) flush() error {
	if len(f.Bytes()) < enough {
		return nil
	}
	return f.finish()
}

func (f *file) finish() error {
	_, err := f.to.Write(bytes.Map(allowed, f.Bytes()))
	f.Writer = bxml.Writer{}
	return err
}

// allowed replaces what no XML may hold, and Map gives it for bytes that are no UTF-8 the
// replacement character: readers refuse a whole file for one such letter, which anybody can
// have in the name of his processor.
func allowed(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff' {
		return '\ufffd'
	}
	return r
}

// writeFile makes a file with one element, compressed if its name ends so.
func writeFile(name, tag string, write func(f *file) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".stats")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, tmp.Close())
		if err == nil {
			err = atomicfile.Rename(tmp.Name(), name)
		}
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	f := file{to: tmp}
	var packed *gzip.Writer
	if strings.HasSuffix(name, ".gz") {
		packed = gzip.NewWriter(tmp)
		f.to = packed
	}
	f.Raw(`<?xml version="1.0" encoding="utf-8"?>` + "\n")
	f.Open(tag)
	if err := write(&f); err != nil {
		return err
	}
	f.Close(tag)
	if err := f.finish(); err != nil {
		return err
	}
	if packed != nil {
		if err := packed.Close(); err != nil {
			return err
		}
	}
	return tmp.Chmod(0o644)
}
