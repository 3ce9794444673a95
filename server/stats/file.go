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

// enough is the number of bytes of XML that are buffered before they are written.
const enough = 256 << 10

// A file is XML on its way to a disk.
type file struct {
	bxml.Writer
	to io.Writer
}

// flush writes the buffered data, if it is much.
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

// allowed replaces characters that are not allowed in XML. For bytes that are not UTF-8, Map passes
// it the replacement character. Readers refuse a whole file for one such character, which can be
// part of any computer's processor name.
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
