package state

import (
	"bytes"
	"errors"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// salvage returns changes that write the history again, after the file was damaged while it was in
// use: memory contains the whole state except the history. A file that was removed or replaced is
// still intact for a process that has it open. For other damage the last good copy is used, which
// lacks the events since it was made, at most an hour ago. If that cannot be read either, there are
// no changes: the state is more important than its history.
func (db *DB) salvage() []onDiskChange {
	now, err := os.Stat(db.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(now, db.file) {
		if all, err := readHistory(db.bolt); err == nil {
			return all
		}
	}
	good := copyName(db.path)
	if info, err := os.Stat(good); err != nil || info.Size() == 0 || verify(good) != nil {
		return nil
	}
	var all []onDiskChange
	_ = guard(func() error {
		b, _, err := openBolt(good, time.Second, true)
		if err != nil {
			return err
		}
		defer b.Close()
		all, err = readHistory(b)
		return err
	})
	return all
}

// readHistory returns changes that write everything that is in a file but not in memory.
func readHistory(bolt *bbolt.DB) (all []onDiskChange, err error) {
	err = guard(func() error {
		return bolt.View(func(b *bbolt.Tx) error {
			d, said, known, err := digestOf(b)
			if err != nil {
				return err
			}
			if known && d != said {
				return ErrDamaged
			}
			return b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
				if !onDisk(string(name)) {
					return nil
				}
				return bucket.ForEach(func(k, v []byte) error {
					bucket, key, value := string(name), string(k), bytes.Clone(v)
					all = append(all, func(d *disk) error { return d.set(bucket, key, value) })
					return nil
				})
			})
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
