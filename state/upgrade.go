package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"go.etcd.io/bbolt"
)

// format is the format of the records that this version writes. A file of a later format was
// written by a newer agent and is not changed. A new format is also necessary if older versions could
// read the records, but would run tasks in the wrong way.
const format = 2

// upgrades convert each format to the next: upgrades[0] converts 1 to 2. A step uses only the names
// of its two formats, not the current record types, so that it never needs to change. testdata
// contains a file of every format.
var upgrades = [format - 1]func(stored) error{
	namesOfTheirOwn,
}

// stored are the unchanged records of a file, by bucket and key, except the history. The history is
// not changed when a file is upgraded: if the meaning of its records changes, they get a field of
// another name.
type stored map[string]map[string][]byte

func readStored(b *bbolt.Tx) (stored, error) {
	all := make(stored)
	err := b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
		if onDisk(string(name)) {
			return nil
		}
		rows := make(map[string][]byte)
		all[string(name)] = rows
		return bucket.ForEach(func(k, v []byte) error {
			rows[string(k)] = bytes.Clone(v)
			return nil
		})
	})
	return all, err
}

// format returns the format of the records, or 0 if there is none yet.
func (all stored) format() (int, error) {
	text, ok := all[metaBucket][formatKey]
	if !ok {
		return 0, nil
	}
	var n int
	if err := json.Unmarshal(text, &n); err != nil || n < 1 {
		return 0, fmt.Errorf("%w: its format is %q", ErrDamaged, text)
	}
	return n, nil
}

// upgrade converts the records to the current format, and returns their previous format.
func (all stored) upgrade() (old int, err error) {
	old, err = all.format()
	switch {
	case err != nil || old == 0:
		return old, err
	case old > format:
		return old, fmt.Errorf("written by a newer version of Starling (format %d; this version knows %d): install that version again", old, format)
	}
	for i, step := range upgrades[old-1:] {
		if err := step(all); err != nil {
			return old, fmt.Errorf("from format %d to %d: %w", old+i, old+i+1, err)
		}
	}
	return old, nil
}

// adopt writes the upgraded records in one step. A copy of the previous file is kept next to it, in
// case somebody returns to the version that wrote it.
func (db *DB) adopt(path string, old int) error {
	if old > 0 {
		if err := keep(db.bolt, fmt.Sprintf("%s.format-%d", path, old)); err != nil {
			return fmt.Errorf("%w; the file of the older version must be kept before it is upgraded: free some disk space", err)
		}
	}
	return db.writeAll()
}

// each applies change to all records of some buckets.
func (all stored) each(change func(record map[string]any) map[string]any, buckets ...string) error {
	for _, bucket := range buckets {
		for key, text := range all[bucket] {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber() // keeps all digits
			var record map[string]any
			err := d.Decode(&record)
			if err == nil {
				all[bucket][key], err = json.Marshal(change(record))
			}
			if err != nil {
				return fmt.Errorf("%s %q: %w", bucket, key, err)
			}
		}
	}
	return nil
}

// namesOfTheirOwn converts records to format 2. Format 1 stored each field under its name in the
// program.
func namesOfTheirOwn(all stored) error {
	return all.each(func(record map[string]any) map[string]any { return renamed(record).(map[string]any) },
		"host", "project", "file", "app", "app_version", "workunit", "result", "account_manager")
}

// renamed returns a value with the keys of format 2.
func renamed(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = renamed(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, field := range v {
			out[snake(k)] = renamed(field)
		}
		return out
	}
	return v
}

// irregular are names that snake would not split at the right places.
var irregular = map[string]string{
	"AvgNCPUs": "avg_ncpus", "NBytes": "nbytes", "GzippedNBytes": "gzipped_nbytes", "MaxNBytes": "max_nbytes",
	"DownloadURLs": "download_urls", "UploadURLs": "upload_urls", "GzippedURLs": "gzipped_urls", "SchedulerURLs": "scheduler_urls",
}

// snake converts LikeThis to like_this. HostID and RPCSeqno become host_id and rpc_seqno.
func snake(name string) string {
	if s, ok := irregular[name]; ok {
		return s
	}
	var b strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		begins := i > 0 && unicode.IsUpper(c) &&
			(unicode.IsLower(letters[i-1]) || unicode.IsUpper(letters[i-1]) && i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
