package state

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// A logbook is a bucket whose records are numbered in the order in which they were added, and of
// which only the last are kept. Unlike the records of a Table they are not in memory: a change is
// an operation that is carried out within the transaction, and reading accesses the file.
//
// Only the oldest record is ever removed, so the numbers have no gaps and show how many records
// there are.
type logbook struct {
	bucket    string
	most      int   // records
	mostBytes int64 // of all records
}

// The buckets of the history, see ended.go and span.go. Their records stay on disk.
const (
	endedBucket = "history_task"
	indexBucket = "history_index" // key of a result → number of its last record in endedBucket
	spanBucket  = "history_span"
	sizeBucket  = "history_size" // bucket → bytes of its records
)

// onDisk reports whether the records of a bucket are only on disk, not in memory.
func onDisk(bucket string) bool {
	switch bucket {
	case endedBucket, indexBucket, spanBucket, sizeBucket:
		return true
	}
	return false
}

// A disk is the file within one transaction. Each change of it changes the digest.
type disk struct {
	*bbolt.Tx
	digest digest
}

// An onDiskChange is a change of records that are only on disk.
type onDiskChange func(d *disk) error

// get returns a record, or nil if there is none. It is valid until the next change.
func (d *disk) get(bucket, key string) []byte {
	b := d.Bucket([]byte(bucket))
	if b == nil {
		return nil
	}
	return b.Get([]byte(key))
}

// set writes a record, or deletes it if value is nil.
func (d *disk) set(bucket, key string, value []byte) error {
	b, err := d.CreateBucketIfNotExists([]byte(bucket))
	if err != nil {
		return err
	}
	if onDisk(bucket) {
		b.FillPercent = 0.9 // most records are added at the end
	}
	d.digest -= d.digest.of(bucket, key, b.Get([]byte(key)))
	if value == nil {
		err = b.Delete([]byte(key))
	} else {
		d.digest += d.digest.of(bucket, key, value)
		err = b.Put([]byte(key), value)
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", bucket, key, err)
	}
	return nil
}

// numbered returns the key of the record with a number.
func numbered(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

func numberOf(key []byte) uint64 {
	if len(key) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

// ends returns the numbers of the first and the last record, or 0 if there are none, and the first.
func (l logbook) ends(b *bbolt.Tx) (first, last uint64, value []byte) {
	bucket := b.Bucket([]byte(l.bucket))
	if bucket == nil {
		return 0, 0, nil
	}
	end, _ := bucket.Cursor().Last()
	begin, value := bucket.Cursor().First()
	return numberOf(begin), numberOf(end), value
}

// put writes record n and updates the number of bytes.
func (l logbook) put(d *disk, n uint64, value []byte) error {
	size := l.size(d) + int64(len(value)) - int64(len(d.get(l.bucket, numbered(n))))
	if err := d.set(l.bucket, numbered(n), value); err != nil {
		return err
	}
	return d.set(sizeBucket, l.bucket, strconv.AppendInt(nil, size, 10))
}

// size returns the number of bytes of all records.
func (l logbook) size(d *disk) int64 {
	n, err := strconv.ParseInt(string(d.get(sizeBucket, l.bucket)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// trim removes the oldest records while there are too many or old reports that they are too old,
// but never the last one. gone, which may be nil, is called with each removed record.
func (l logbook) trim(d *disk, old func(value []byte) bool, gone func(n uint64, value []byte) error) error {
	for {
		first, last, value := l.ends(d.Tx)
		if first == last {
			return nil
		}
		if last-first < uint64(l.most) && l.size(d) <= l.mostBytes && (old == nil || !old(value)) { //nolint:gosec // a positive constant
			return nil
		}
		value = append([]byte(nil), value...)
		size := l.size(d) - int64(len(value))
		if err := d.set(l.bucket, numbered(first), nil); err != nil {
			return err
		}
		if err := d.set(sizeBucket, l.bucket, strconv.AppendInt(nil, size, 10)); err != nil {
			return err
		}
		if gone != nil {
			if err := gone(first, value); err != nil {
				return err
			}
		}
	}
}

// backwards yields the records of a logbook, the last one first, and with before set only those before that
// number.
func backwards[T any](b *bbolt.Tx, l logbook, before uint64, yield func(n uint64, x T) bool) error {
	bucket := b.Bucket([]byte(l.bucket))
	if bucket == nil {
		return nil
	}
	c := bucket.Cursor()
	k, v := c.Last()
	if before > 0 {
		if k, _ = c.Seek([]byte(numbered(before))); k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
	}
	for ; k != nil; k, v = c.Prev() {
		var x T
		if err := json.Unmarshal(v, &x); err != nil {
			return fmt.Errorf("%s %d: %w", l.bucket, numberOf(k), err)
		}
		if !yield(numberOf(k), x) {
			return nil
		}
	}
	return nil
}

// view reads data that is only on disk. For a DB without a file it does nothing.
func (db *DB) view(read func(b *bbolt.Tx) error) error {
	if db.bolt == nil {
		return nil
	}
	if err := guard(func() error { return db.bolt.View(read) }); err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	return nil
}
