package state

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"
)

// A Table contains the records of one kind, in memory and on disk. Records are values: the caller
// may change a record returned by Get, and only Put changes the table.
type Table[V any] struct {
	bucket string
	encode func(V) ([]byte, error) // the form of a record on disk
	decode func([]byte) (V, error)
	rows   map[string]V
	// keys are the sorted keys of rows, or nil if they must be computed again because a record was
	// added or removed. The slice itself is never changed, so that loops over it can continue.
	keys []string
}

// Get returns the record with the given key.
func (t *Table[V]) Get(key string) (V, bool) {
	v, ok := t.rows[key]
	return v, ok
}

// Len returns the number of records.
func (t *Table[V]) Len() int { return len(t.rows) }

// All yields the records in the order of their keys. The body may change the table. The loop covers
// the records that existed when it started.
func (t *Table[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { t.each(t.sorted(), yield) }
}

// Of yields the records of one project in the order of their keys, as All does.
func (t *Table[V]) Of(project string) iter.Seq2[string, V] {
	prefix := Key(project)
	return func(yield func(string, V) bool) {
		keys := t.sorted()
		first, _ := slices.BinarySearch(keys, prefix)
		keys = keys[first:]
		if end := slices.IndexFunc(keys, func(k string) bool { return !strings.HasPrefix(k, prefix) }); end >= 0 {
			keys = keys[:end]
		}
		t.each(keys, yield)
	}
}

func (t *Table[V]) sorted() []string {
	if t.keys == nil {
		t.keys = slices.Sorted(maps.Keys(t.rows))
	}
	return t.keys
}

func (t *Table[V]) each(keys []string, yield func(string, V) bool) {
	for _, k := range keys {
		if v, ok := t.rows[k]; ok && !yield(k, v) {
			return
		}
	}
}

// Put sets a record as part of tx.
func (t *Table[V]) Put(tx *Tx, key string, v V) {
	if !t.remember(tx, key) {
		t.keys = nil
	}
	t.rows[key] = v
	tx.writes[change{t.bucket, key}] = func() ([]byte, error) { return t.encode(v) }
}

// Delete removes a record, if it is there, as part of tx.
func (t *Table[V]) Delete(tx *Tx, key string) {
	t.remember(tx, key)
	delete(t.rows, key) // its key may stay in keys: loops skip keys without a record
	tx.writes[change{t.bucket, key}] = nil
}

// remember records how to undo the change that tx makes to a record, and reports whether the record
// exists.
func (t *Table[V]) remember(tx *Tx, key string) (had bool) {
	old, had := t.rows[key]
	tx.undo = append(tx.undo, func() {
		t.keys = nil
		if had {
			t.rows[key] = old
		} else {
			delete(t.rows, key)
		}
	})
	return had
}

// rewrite makes tx write all records unchanged.
func (t *Table[V]) rewrite(tx *Tx) {
	for k, v := range t.rows {
		tx.writes[change{t.bucket, k}] = func() ([]byte, error) { return t.encode(v) }
	}
}

// load replaces the records by the records of a file.
func (t *Table[V]) load(all stored) error {
	t.rows, t.keys = make(map[string]V, len(all[t.bucket])), nil
	for k, data := range all[t.bucket] {
		v, err := t.decode(data)
		if err != nil {
			return fmt.Errorf("%s %q: %w", t.bucket, k, err)
		}
		t.rows[k] = v
	}
	return nil
}

// A Tx is one change of the state: all of it happens or nothing does.
type Tx struct {
	writes map[change]func() ([]byte, error) // nil: delete
	onDisk []onDiskChange                    // changes of records that are only on disk, in their order
	undo   []func()
	digest digest // of all records, including the changes
}

type change struct{ bucket, key string }

func newTx(d digest) *Tx {
	return &Tx{writes: make(map[change]func() ([]byte, error)), digest: d}
}

func (tx *Tx) rollback() {
	for _, undo := range slices.Backward(tx.undo) {
		undo()
	}
}

func (tx *Tx) write(b *bbolt.Tx) error {
	d := &disk{b, tx.digest}
	for c, encode := range tx.writes {
		var data []byte
		if encode != nil {
			var err error
			if data, err = encode(); err != nil {
				return fmt.Errorf("%s %q: %w", c.bucket, c.key, err)
			}
		}
		if err := d.set(c.bucket, c.key, data); err != nil {
			return err
		}
	}
	for _, change := range tx.onDisk {
		if err := change(d); err != nil {
			return err
		}
	}
	tx.digest = d.digest
	return tx.digest.put(b)
}

func itoa(n int) string { return strconv.Itoa(n) }
