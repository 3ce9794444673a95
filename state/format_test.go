package state_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/state"
)

var writeGolden = flag.Bool("write-golden", false, "write testdata of the current format, where there is none")

// fillAll puts a record of each kind into a state, with all of its fields.
func fillAll(t *testing.T, db *state.DB) {
	t.Helper()
	if err := db.Update(func(tx *state.Tx) {
		db.Hosts.Put(tx, state.Self, filled[state.Host]())
		db.Managers.Put(tx, state.Self, filled[state.Manager]())
		db.Projects.Put(tx, project, filled[state.Project]())
		db.Files.Put(tx, state.Key(project, "file"), filled[state.File]())
		db.Apps.Put(tx, state.Key(project, "app"), filled[state.App]())
		db.Versions.Put(tx, state.Key(project, "app", "x86_64-pc-linux-gnu", "100", ""), filled[state.AppVersion]())
		db.Units.Put(tx, state.Key(project, "workunit"), filled[state.Workunit]())
		db.Results.Put(tx, state.Key(project, "result"), filled[state.Result]())
		db.Days.Put(tx, "2026-05-04", filled[state.Day]())
		db.Notices.Put(tx, state.Key(project, "1"), filled[state.Notice]())
	}); err != nil {
		t.Fatal(err)
	}
}

// TestEachFieldIsKept finds fields that are not stored on disk.
func TestEachFieldIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	fillAll(t, db)
	must(t, db.Close())
	db = open(t, path)
	kept(t, &db.Hosts)
	kept(t, &db.Managers)
	kept(t, &db.Projects)
	kept(t, &db.Files)
	kept(t, &db.Apps)
	kept(t, &db.Versions)
	kept(t, &db.Units)
	kept(t, &db.Results)
	kept(t, &db.Days)
	kept(t, &db.Notices)
}

func kept[V any](t *testing.T, table *state.Table[V]) {
	t.Helper()
	for _, got := range table.All() {
		if want := filled[V](); !reflect.DeepEqual(got, want) {
			t.Errorf("read:\n%+v\nwritten:\n%+v", got, want)
		}
		return
	}
	t.Errorf("there is no %T", *new(V))
}

// TestFormats opens a file of every format that ever existed, both to read it and to use it, and
// expects all of its content.
func TestFormats(t *testing.T) {
	if *writeGolden {
		writeFormat(t)
	}
	files, err := filepath.Glob("testdata/v*.db.gz")
	if err != nil || len(files) != state.Format {
		t.Fatalf("%d files for %d formats, %v: go test ./state -run TestFormats -write-golden", len(files), state.Format, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			path := unpack(t, file)
			before := readAll(t, path)
			db, err := state.OpenReadOnly(path)
			must(t, err)
			golden(t, strings.TrimSuffix(file, ".db.gz")+".txt", dump(db))
			must(t, db.Close())
			if !bytes.Equal(readAll(t, path), before) {
				t.Error("a look changed the file")
			}
			for range 2 {
				db = open(t, path)
				golden(t, strings.TrimSuffix(file, ".db.gz")+".txt", dump(db))
				must(t, db.Close())
			}
			asides, _ := filepath.Glob(path + ".format-*")
			if older := filepath.Base(file) != fmt.Sprintf("v%d.db.gz", state.Format); older != (len(asides) == 1) {
				t.Errorf("kept aside: %v", asides)
			}
		})
	}
}

// dump returns everything in a state, one field a line.
func dump(db *state.DB) string {
	var b strings.Builder
	table(&b, "host", db.Hosts.All())
	table(&b, "account manager", db.Managers.All())
	table(&b, "project", db.Projects.All())
	table(&b, "file", db.Files.All())
	table(&b, "app", db.Apps.All())
	table(&b, "app version", db.Versions.All())
	table(&b, "workunit", db.Units.All())
	table(&b, "result", db.Results.All())
	return b.String()
}

func table[V any](b *strings.Builder, name string, all func(yield func(string, V) bool)) {
	all(func(key string, v V) bool {
		fields(b, name+" "+strings.ReplaceAll(key, "\x00", " "), reflect.ValueOf(v))
		return true
	})
}

func fields(b *strings.Builder, path string, v reflect.Value) {
	switch s, ok := reflect.TypeAssert[fmt.Stringer](v); {
	case v.IsZero(): // a field that this format did not have
	case ok:
		fmt.Fprintf(b, "%s: %s\n", path, s)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fields(b, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			fields(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	default:
		fmt.Fprintf(b, "%s: %v\n", path, v)
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && *writeGolden {
		err, want = os.WriteFile(file, []byte(got), 0o600), []byte(got)
	}
	must(t, err)
	if got != string(want) {
		t.Errorf("%s is not what was read:\n%s", file, got)
	}
}

// writeFormat stores a file of the current format, unless there is one.
func writeFormat(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	fillAll(t, db)
	must(t, db.Close())
	f, err := os.OpenFile(fmt.Sprintf("testdata/v%d.db.gz", state.Format), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return
	}
	must(t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write(readAll(t, path))
	must(t, errors.Join(err, z.Close(), f.Close()))
}

func unpack(t *testing.T, file string) (path string) {
	t.Helper()
	f, err := os.Open(file)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	content, err := io.ReadAll(z)
	must(t, err)
	path = filepath.Join(t.TempDir(), "state.db")
	must(t, os.WriteFile(path, content, 0o600))
	return path
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// TestANewerFormat checks that a file of a newer format is neither read nor changed.
func TestANewerFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	state.SetFormat(t, db, state.Format+1)
	must(t, db.Close())
	before := readAll(t, path)
	if _, err := state.Open(path); err == nil || !strings.Contains(err.Error(), "install that version again") {
		t.Errorf("got %v", err)
	}
	if !bytes.Equal(readAll(t, path), before) {
		t.Error("the file was changed")
	}
}

var must = testerr.Must
