package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"go.etcd.io/bbolt"
)

// A digest is the sum of a hash of each record, in any order. It changes with each change of a
// record, in the same transaction, so a record that is lost, altered or from another time is
// noticed when the file is read.
type digest uint64

// The bucket and keys of a file's records about itself.
const (
	metaBucket = "meta"
	digestKey  = "digest" // not included in the digest
	formatKey  = "format"
)

// of returns the hash of one record, or 0 without a value.
func (digest) of(bucket, key string, value []byte) digest {
	if value == nil {
		return 0
	}
	h := fnv.New64a()
	var length [8]byte
	for _, part := range [][]byte{[]byte(bucket), []byte(key), value} {
		binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = h.Write(length[:])
		_, _ = h.Write(part)
	}
	return digest(h.Sum64())
}

// digestOf returns the digest of all records in a file, and the digest that the file contains.
// known is false if an older version wrote the file, without a digest.
func digestOf(b *bbolt.Tx) (d, said digest, known bool, err error) {
	err = b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
		return bucket.ForEach(func(k, v []byte) error {
			if string(name) == metaBucket && string(k) == digestKey {
				known = true
				return json.Unmarshal(v, &said)
			}
			d += d.of(string(name), string(k), v)
			return nil
		})
	})
	return d, said, known, err
}

// check compares the digest of the records that were read with the one that was written.
func (db *DB) check(b *bbolt.Tx) error {
	d, said, known, err := digestOf(b)
	if err != nil {
		return err
	}
	if known && d != said {
		return errors.New("its records differ from those that were written")
	}
	db.digest = d
	return nil
}

// put writes the digest.
func (d digest) put(b *bbolt.Tx) error {
	bucket, err := b.CreateBucketIfNotExists([]byte(metaBucket))
	if err != nil {
		return err
	}
	if err := bucket.Put([]byte(digestKey), fmt.Append(nil, uint64(d))); err != nil {
		return fmt.Errorf("digest: %w", err)
	}
	return nil
}
