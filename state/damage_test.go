package state_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// fill puts records of several kinds into a state, in several transactions.
func fill(t testing.TB, db *state.DB, n int) {
	t.Helper()
	for i := range n {
		if err := db.Update(func(tx *state.Tx) {
			db.Projects.Put(tx, project, state.Project{MasterURL: project, HostID: 7, RPCSeqno: int64(i), Name: strings.Repeat("x", i)})
			db.Hosts.Put(tx, state.Self, state.Host{CPID: "0123456789abcdef"})
			key := state.Key(project, fmt.Sprint("r_", i))
			db.Results.Put(tx, key, state.Result{Project: project, Slot: i, Result: protocol.Result{Name: key}, Stderr: strings.Repeat("y", 40*(i%50))})
			db.End(tx, state.EndedTask{Project: project, Name: key, Stderr: strings.Repeat("z", 30*(i%50))})
			if i%3 == 0 {
				db.Results.Delete(tx, state.Key(project, fmt.Sprint("r_", i/2)))
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// content returns everything in a state by table and key, except for data that a repair may change.
func content(db *state.DB) map[string]any {
	all := make(map[string]any)
	for k, p := range db.Projects.All() {
		p.RPCSeqno = 0
		all["project "+k] = p
	}
	for k, r := range db.Results.All() {
		all["result "+k] = r
	}
	for k, h := range db.Hosts.All() {
		all["host "+k] = h
	}
	return all
}

// damages are kinds of damage that disks, crashes and people cause.
var damages = []struct {
	name string
	do   func(b []byte, rng *rand.Rand) []byte
	once bool // it is the same each time
}{
	{"a bit", func(b []byte, rng *rand.Rand) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b }, false},
	{"some bytes of a page", func(b []byte, rng *rand.Rand) []byte {
		page := rng.IntN(len(b) / 4096)
		for range 20 {
			b[page*4096+rng.IntN(200)] = byte(rng.Uint32())
		}
		return b
	}, false},
	{"a page of zeros", func(b []byte, rng *rand.Rand) []byte {
		clear(b[rng.IntN(len(b)/4096)*4096:][:4096])
		return b
	}, false},
	{"a page of another place", func(b []byte, rng *rand.Rand) []byte {
		copy(b[rng.IntN(len(b)/4096)*4096:][:4096], b[rng.IntN(len(b)/4096)*4096:][:4096])
		return b
	}, false},
	{"a sector of noise", func(b []byte, rng *rand.Rand) []byte {
		s := b[rng.IntN(len(b)/512)*512:][:512]
		for i := range s {
			s[i] = byte(rng.Uint32())
		}
		return s[:0:0]
	}, false},
	{"cut off", func(b []byte, rng *rand.Rand) []byte { return b[:rng.IntN(len(b))] }, false},
	{"empty", func([]byte, *rand.Rand) []byte { return []byte{} }, true},
	{"both beginnings", func(b []byte, _ *rand.Rand) []byte { clear(b[:8192]); return b }, true},
	{"another file", func([]byte, *rand.Rand) []byte { return []byte(strings.Repeat("hello\n", 5000)) }, true},
	{"gone", func([]byte, *rand.Rand) []byte { return nil }, true},
}

// Whatever happens to the file, reading it neither panics nor returns wrong data, and an agent that
// starts has the records of the good copy.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	db := open(t, path)
	fill(t, db, 120)
	must(t, db.Keeper()())
	want := content(db)
	must(t, db.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	good, err := os.ReadFile(path + ".good")
	must(t, err)
	repaired, times, seeds := 0, 0, uint64(400)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		d := damages[seed%uint64(len(damages))]
		if d.once && seed >= uint64(len(damages)) {
			continue
		}
		times++
		rng := rand.New(rand.NewPCG(seed, 1))
		bytes := append([]byte(nil), whole...)
		now := d.do(bytes, rng)
		if now != nil && cap(now) == 0 { // changed in place
			now = bytes
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "state.db")
		if now != nil {
			must(t, os.WriteFile(path, now, 0o600))
		}
		must(t, os.WriteFile(path+".good", good, 0o600))
		what := fmt.Sprintf("seed %d, %s", seed, d.name)
		if db, err := state.OpenReadOnly(path); err == nil {
			if !reflect.DeepEqual(content(db), want) {
				t.Errorf("%s: it was read, and is wrong", what)
			}
			_ = db.Close()
		} else if !errors.Is(err, state.ErrDamaged) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v", what, err)
		}
		db, err := state.Open(path)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if !reflect.DeepEqual(content(db), want) {
			t.Errorf("%s: it was repaired, and is wrong", what)
		}
		if r := db.Repaired; r != nil {
			repaired++
			p, _ := db.Projects.Get(project)
			if r.Copy.IsZero() || p.RPCSeqno < 1000 {
				t.Errorf("%s: %+v, request number %d", what, r, p.RPCSeqno)
			}
			if r.Aside != "" {
				if aside, err := os.ReadFile(r.Aside); err != nil || string(aside) != string(now) {
					t.Errorf("%s: the damaged file was not kept: %v", what, err)
				}
			}
		}
		fill(t, db, 3) // and it can be used
		if err := db.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if db, err = state.Open(path); err != nil || db.Repaired != nil {
			t.Errorf("%s: the next start: %v", what, err)
		} else {
			_ = db.Close()
		}
	}
	t.Logf("%d of %d were repaired; the others concerned pages that nothing uses", repaired, times)
	if repaired < times/3 {
		t.Errorf("only %d were repaired", repaired)
	}
}

// Without a copy the agent starts with an empty state, and keeps the damaged file.
func TestDamageWithoutACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	fill(t, db, 50)
	must(t, db.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	clear(b[:8192])
	must(t, os.WriteFile(path, b, 0o600))
	db = open(t, path)
	if db.Repaired == nil || !db.Repaired.Copy.IsZero() || db.Results.Len() != 0 {
		t.Fatalf("got %+v", db.Repaired)
	}
	if _, err := os.Stat(db.Repaired.Aside); err != nil {
		t.Error(err)
	}
}

// A file that is removed, truncated or replaced under a running agent is written again from memory.
func TestDamageWhileInUse(t *testing.T) {
	for name, do := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(p string) error { return os.Truncate(p, 0) },
		"cut off": func(p string) error { return os.Truncate(p, 5000) },
		"replaced": func(p string) error {
			return errors.Join(os.WriteFile(p+".x", []byte("another"), 0o600), os.Rename(p+".x", p))
		},
		"noise in the middle": func(p string) error {
			f, err := os.OpenFile(p, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte(strings.Repeat("noise", 20000)), 8192)
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && name != "noise in the middle" {
				t.Skip("Windows lets nobody remove, replace or truncate a file that is open and mapped")
			}
			path := filepath.Join(t.TempDir(), "state.db")
			db := open(t, path)
			fill(t, db, 100)
			must(t, do(path))
			fill(t, db, 120)
			want := content(db)
			_ = db.Close()
			db = open(t, path)
			if !reflect.DeepEqual(content(db), want) {
				t.Errorf("after %s: %v: it is not what was saved", name, db.Repaired)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "state.db")
	db, err := state.Open(path)
	must(f, err)
	fill(f, db, 5)
	_ = db.Close()
	b, err := os.ReadFile(path)
	must(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "state.db")
		must(t, os.WriteFile(path, b, 0o600))
		if db, err := state.Open(path); err == nil {
			_ = db.Close()
		}
	})
}

// A copy that is in progress when the agent stops, a copy made by the stop itself, and the closing
// of the file do not disturb each other.
func TestCopiesBesideTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	var wg sync.WaitGroup
	for range 4 {
		keep := db.Keeper()
		wg.Go(func() { _ = keep() }) // it may be too late
	}
	if err := db.Keeper()(); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if err := open(t, path).Close(); err != nil {
		t.Error(err)
	}
}
