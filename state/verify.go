package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt trusts its file: a damaged page makes it panic, run forever or return data that was never
// written. So the file is checked first, with bounded reads only: each page is used once and is
// within the file, and its keys are in order. The digest protects the content of the records.
//
// Source: go.etcd.io/bbolt internal/common, page.go, meta.go, bucket.go.
const (
	pageHeader    = 16
	metaSize      = 64
	elementSize   = 16
	bucketHeader  = 16
	magic         = 0xED0CDAED
	fileVersion   = 2
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	bucketLeaf    = 0x01
	noFreelist    = ^uint64(0)
	manyFree      = 0xFFFF // the count is in the first entry
	mostPageSize  = 1 << 16
	leastPageSize = 1 << 9
)

var order = binary.NativeEndian

// A boltMeta contains the positions of the pages of the last transaction.
type boltMeta struct{ pageSize, root, freelist, pages, tx uint64 }

// A verifier examines the pages of a file.
type verifier struct {
	f    io.ReaderAt
	meta boltMeta
	seen map[uint64]bool
}

// verify returns an error if a state file is damaged. An empty one is valid.
func verify(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	m, err := lastMeta(f, info.Size())
	if err != nil {
		return err
	}
	if m.pages*m.pageSize > uint64(info.Size()) { //nolint:gosec // sizes are positive
		return fmt.Errorf("it has %d bytes, and had %d", info.Size(), m.pages*m.pageSize)
	}
	v := &verifier{f: f, meta: m, seen: map[uint64]bool{0: true, 1: true}}
	if err := v.page(m.root, nil, nil); err != nil {
		return err
	}
	return v.free(m.freelist)
}

// lastMeta returns the newer one of the two meta pages that are intact.
func lastMeta(f io.ReaderAt, size int64) (best boltMeta, err error) {
	found := false
	read := func(at int64) (boltMeta, bool) {
		b := make([]byte, pageHeader+metaSize)
		if _, err := f.ReadAt(b, at); err != nil {
			return boltMeta{}, false
		}
		b = b[pageHeader:]
		h := fnv.New64a()
		_, _ = h.Write(b[:metaSize-8])
		m := boltMeta{
			pageSize: uint64(order.Uint32(b[8:])), root: order.Uint64(b[16:]),
			freelist: order.Uint64(b[32:]), pages: order.Uint64(b[40:]), tx: order.Uint64(b[48:]),
		}
		ok := order.Uint32(b) == magic && order.Uint32(b[4:]) == fileVersion && order.Uint64(b[56:]) == h.Sum64() &&
			m.pageSize >= leastPageSize && m.pageSize <= mostPageSize && m.pageSize&(m.pageSize-1) == 0 && m.pages <= uint64(size) //nolint:gosec // sizes are positive
		return m, ok
	}
	first, ok := read(0)
	if ok {
		best, found = first, true
	}
	for at := int64(leastPageSize); at <= mostPageSize; at *= 2 { // the second is at the second page
		if m, ok := read(at); ok && m.pageSize == uint64(at) && (!found || m.tx > best.tx) {
			best, found = m, true
		}
	}
	if !found {
		return best, errors.New("its first pages are not those of a state file")
	}
	return best, nil
}

// load returns a page with its overflow, which must not be in use.
func (v *verifier) load(id uint64) (b []byte, err error) {
	if id >= v.meta.pages || v.seen[id] {
		return nil, fmt.Errorf("page %d is used twice or missing", id)
	}
	var head [pageHeader]byte
	at := int64(id * v.meta.pageSize) //nolint:gosec // within the file
	if _, err := v.f.ReadAt(head[:], at); err != nil {
		return nil, err
	}
	overflow := uint64(order.Uint32(head[12:]))
	if order.Uint64(head[:]) != id || overflow >= v.meta.pages-id {
		return nil, fmt.Errorf("page %d has another number", id)
	}
	for i := id; i <= id+overflow; i++ {
		if v.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		v.seen[i] = true
	}
	b = make([]byte, (overflow+1)*v.meta.pageSize)
	_, err = v.f.ReadAt(b, at)
	return b, err
}

// page checks a page and the pages below it. Its keys must be at least from and less than to, if
// those are not nil.
func (v *verifier) page(id uint64, from, to []byte) error {
	b, err := v.load(id)
	if err != nil {
		return err
	}
	return v.elements(b, fmt.Sprint("page ", id), from, to)
}

// elements checks the content of a page, or of a bucket that is small enough to be stored in its
// parent's.
func (v *verifier) elements(b []byte, name string, from, to []byte) error {
	flags, count := order.Uint16(b[8:]), int(order.Uint16(b[10:]))
	if flags != branchPage && flags != leafPage || pageHeader+count*elementSize > len(b) || flags == branchPage && count == 0 {
		return fmt.Errorf("%s is not a page of records", name)
	}
	keys, values, kinds := make([][]byte, count), make([][]byte, count), make([]uint64, count)
	for i := range count {
		at := pageHeader + i*elementSize
		e := b[at:]
		var pos, ksize, vsize uint64
		if flags == branchPage {
			pos, ksize, kinds[i] = uint64(order.Uint32(e)), uint64(order.Uint32(e[4:])), order.Uint64(e[8:])
		} else {
			kinds[i], pos, ksize, vsize = uint64(order.Uint32(e)), uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		}
		start := uint64(at) + pos
		if start+ksize+vsize > uint64(len(b)) {
			return fmt.Errorf("record %d of %s exceeds its page", i, name)
		}
		keys[i], values[i] = b[start:start+ksize], b[start+ksize:start+ksize+vsize]
		low := from
		if i > 0 {
			low = keys[i-1]
		}
		if cmp := bytes.Compare(keys[i], low); low != nil && (cmp < 0 || i > 0 && cmp == 0) || to != nil && bytes.Compare(keys[i], to) >= 0 {
			return fmt.Errorf("record %d of %s is not in order", i, name)
		}
	}
	for i := range count {
		var err error
		switch {
		case flags == branchPage:
			next := to
			if i+1 < count {
				next = keys[i+1]
			}
			err = v.page(kinds[i], keys[i], next)
		case kinds[i] == bucketLeaf:
			err = v.bucket(values[i])
		case kinds[i] != 0:
			err = fmt.Errorf("record %d of %s has an unknown kind", i, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) bucket(b []byte) error {
	if len(b) < bucketHeader {
		return errors.New("a bucket is truncated")
	}
	if root := order.Uint64(b); root != 0 {
		return v.page(root, nil, nil)
	}
	if b = b[bucketHeader:]; len(b) < pageHeader || order.Uint16(b[8:]) != leafPage {
		return errors.New("a bucket is truncated")
	}
	return v.elements(b, "a small bucket", nil, nil)
}

// free checks the list of free pages, which must not contain pages in use.
func (v *verifier) free(id uint64) error {
	if id == noFreelist {
		return nil
	}
	b, err := v.load(id)
	if err != nil {
		return fmt.Errorf("free pages: %w", err)
	}
	list, n := b[pageHeader:], uint64(order.Uint16(b[10:]))
	if n == manyFree {
		n, list = order.Uint64(list), list[8:]
	}
	if order.Uint16(b[8:]) != freelistPage || n > uint64(len(list)/8) {
		return errors.New("there is no list of free pages")
	}
	last := uint64(0)
	for i := range n {
		page := order.Uint64(list[8*i:])
		if page <= last || page >= v.meta.pages || v.seen[page] {
			return errors.New("the list of free pages is wrong")
		}
		last = page
	}
	return nil
}
