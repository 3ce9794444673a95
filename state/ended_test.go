package state_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/state"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// end adds a task that took a minute of CPU time to the history.
func end(t testing.TB, db *state.DB, name string, at time.Time) {
	t.Helper()
	if err := db.Update(func(tx *state.Tx) {
		db.End(tx, state.EndedTask{
			Project: project, Name: name, Outcome: state.TaskFinished, Received: noon, Finished: at, CPUTime: time.Minute,
		})
	}); err != nil {
		t.Fatal(err)
	}
}

// names returns the names of the tasks in the history, starting with the last that ended.
func names(t testing.TB, db *state.DB, before uint64) (all []string) {
	t.Helper()
	if err := db.Ended(before, func(_ uint64, e state.EndedTask) bool {
		all = append(all, e.Name)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func reopened(t *testing.T, db *state.DB, path string) *state.DB {
	t.Helper()
	must(t, db.Close())
	return open(t, path)
}

func TestEachFieldOfTheHistoryIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	task, span := filled[state.EndedTask](), filled[state.Span]()
	if err := db.Update(func(tx *state.Tx) {
		db.End(tx, task)
		db.AddSpans(tx, false, span)
	}); err != nil {
		t.Fatal(err)
	}
	db = reopened(t, db, path)
	var tasks []state.EndedTask
	must(t, db.Ended(0, func(_ uint64, e state.EndedTask) bool { tasks = append(tasks, e); return true }))
	if len(tasks) != 1 || !reflect.DeepEqual(tasks[0], task) {
		t.Errorf("read\n%+v\nwritten\n%+v", tasks, task)
	}
	if got, ok, err := db.LastSpan(); err != nil || !ok || !reflect.DeepEqual(got, span) {
		t.Errorf("read\n%+v, %v\nwritten\n%+v", got, err, span)
	}
}

// A result is in the history once, even if it is added repeatedly, and with the time when it was
// reported. Another result of the same name is a separate task.
func TestATaskIsInTheHistoryOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	for _, name := range []string{"a", "b", "a"} {
		end(t, db, name, noon)
	}
	if got := names(t, db, 0); !reflect.DeepEqual(got, []string{"b", "a"}) {
		t.Errorf("got %q", got)
	}
	again := state.EndedTask{Project: project, Name: "a", Received: noon.Add(time.Hour), Finished: noon.Add(2 * time.Hour)}
	if err := db.Update(func(tx *state.Tx) {
		db.Report(tx, state.EndedTask{Project: project, Name: "a", Received: noon}, noon.Add(time.Minute))
		db.End(tx, again)
		db.Report(tx, state.EndedTask{Project: project, Name: "old", Received: noon.Add(-time.Hour)}, noon.Add(time.Minute))
	}); err != nil {
		t.Fatal(err)
	}
	db = reopened(t, db, path)
	var got []string
	if err := db.Ended(0, func(n uint64, e state.EndedTask) bool {
		got = append(got, fmt.Sprintf("%d%s %v", n, e.Name, e.Reported.IsZero()))
		if !e.Reported.IsZero() && (!e.Reported.Equal(noon.Add(time.Minute)) || n == 1 && e.Outcome != state.TaskFinished) {
			t.Errorf("reported: %+v", e)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"4old false", "3a true", "2b true", "1a false"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheHistoryIsReadInPages(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "state.db"))
	if got := names(t, db, 0); got != nil {
		t.Errorf("an empty one has %q", got)
	}
	for i := range 5 {
		end(t, db, fmt.Sprint(i+1), noon)
	}
	for before, want := range map[uint64]string{0: "5 4 3 2 1", 4: "3 2 1", 1: "", 99: "5 4 3 2 1"} {
		if got := strings.Join(names(t, db, before), " "); got != want {
			t.Errorf("before %d: got %q, want %q", before, got, want)
		}
	}
	if err := new(state.DB).Ended(0, func(uint64, state.EndedTask) bool { return true }); err != nil {
		t.Errorf("without a file: %v", err)
	}
}

// The oldest records are removed first, by number and by size, and another start finds the same
// records.
func TestTheHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	many := func(from, n int, stderr string) {
		t.Helper()
		if err := db.Update(func(tx *state.Tx) {
			for i := range n {
				db.End(tx, state.EndedTask{Project: project, Name: fmt.Sprint("r_", from+i), Received: noon, Finished: noon, Stderr: stderr})
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	many(0, state.MaxEnded+10, "")
	got := names(t, db, 0)
	if len(got) != state.MaxEnded || got[0] != fmt.Sprint("r_", state.MaxEnded+9) || got[len(got)-1] != "r_10" {
		t.Errorf("%d tasks, from %s to %s", len(got), got[len(got)-1], got[0])
	}
	const big = 4 << 10
	many(100_000, state.MaxEndedBytes/big, strings.Repeat("x", big))
	db = reopened(t, db, path)
	got = names(t, db, 0)
	if n := len(got); n > state.MaxEndedBytes/big || n < state.MaxEndedBytes/big*9/10 {
		t.Errorf("%d tasks of %d bytes", n, big)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 4*state.MaxEndedBytes {
		t.Errorf("%v, %d bytes", err, info.Size())
	}
	many(200_000, 1, strings.Repeat("x", 2*state.MaxEndedBytes))
	if got := names(t, db, 0); len(got) != 1 || got[0] != "r_200000" {
		t.Errorf("of the last, which is too big alone, %d are kept", len(got))
	}
}

func TestTheTimelineIsBounded(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "state.db"))
	add := func(replace bool, list ...state.Span) {
		t.Helper()
		must(t, db.Update(func(tx *state.Tx) { db.AddSpans(tx, replace, list...) }))
	}
	count := func() (n int) {
		t.Helper()
		must(t, db.Spans(0, func(uint64, state.Span) bool { n++; return true }))
		return n
	}
	add(true, state.Span{Activity: state.Computing, Start: noon, Open: true}) // there is nothing to replace
	add(true, state.Span{Activity: state.Computing, Start: noon, End: noon.Add(time.Hour)}, state.Span{Activity: state.Off, Start: noon.Add(time.Hour), Open: true})
	if last, _, err := db.LastSpan(); err != nil || last.Activity != state.Off || count() != 2 {
		t.Errorf("%d spans, last %+v, %v", count(), last, err)
	}
	add(false, state.Span{Activity: state.Waiting, Start: noon.Add(370 * 24 * time.Hour), Open: true})
	if count() != 1 {
		t.Errorf("%d spans a year later", count())
	}
	var all []state.Span
	for i := range state.MaxSpans + 5 {
		at := noon.Add(time.Duration(i) * time.Minute)
		all = append(all, state.Span{Activity: state.Suspended, Start: at, End: at.Add(time.Minute)})
	}
	add(false, all...)
	if count() != state.MaxSpans {
		t.Errorf("%d spans", count())
	}
}

func TestWhatDaysAchieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	for i := range 400 {
		end(t, db, fmt.Sprint(i), noon.AddDate(0, 0, i-399))
	}
	if err := db.Update(func(tx *state.Tx) {
		db.End(tx, state.EndedTask{Project: project, Name: "f", Outcome: state.TaskFailed, Finished: noon})
		db.End(tx, state.EndedTask{Project: project, Name: "g", Outcome: state.TaskAborted, Finished: noon})
	}); err != nil {
		t.Fatal(err)
	}
	db = reopened(t, db, path)
	if got, want := db.Achieved(noon, 7), (state.Day{Finished: 7, Failed: 1, Aborted: 1, CPUTime: 7 * time.Minute}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := db.Days.Len(); n != 366 {
		t.Errorf("%d days", n)
	}
}

// A file that an older version wrote does not have a history. It gets one and keeps it, even when
// its other records are converted to another format.
func TestAnOlderFileGetsAHistory(t *testing.T) {
	for n := 1; n <= state.Format; n++ {
		path := unpack(t, fmt.Sprintf("testdata/v%d.db.gz", n))
		old, err := state.OpenReadOnly(path)
		must(t, err)
		if got := names(t, old, 0); got != nil {
			t.Errorf("format %d: %q", n, got)
		}
		must(t, old.Close())
		db := open(t, path)
		end(t, db, "a", noon)
		db = reopened(t, db, path)
		if got := names(t, db, 0); len(got) != 1 {
			t.Errorf("format %d: %q", n, got)
		}
	}
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	end(t, db, "a", noon)
	state.WriteAll(t, db) // as an upgrade does
	db = reopened(t, db, path)
	if got := names(t, db, 0); len(got) != 1 || db.Repaired != nil {
		t.Errorf("after an upgrade: %q, %v", got, db.Repaired)
	}
}

// A file that replaces a damaged one has the history of the copy.
func TestTheHistoryAfterARepair(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	end(t, db, "a", noon)
	must(t, db.Keeper()())
	end(t, db, "b", noon)
	must(t, db.Close())
	must(t, os.Truncate(path, 5000))
	db = open(t, path)
	if got := names(t, db, 0); db.Repaired == nil || len(got) != 1 || got[0] != "a" {
		t.Errorf("got %q, %v", got, db.Repaired)
	}
}

// An altered bit of the history is noticed like any other.
func TestDamageOfTheHistoryIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	end(t, db, "unmistakable", noon)
	must(t, db.Close())
	b := []byte(strings.ReplaceAll(string(readAll(t, path)), `"unmistakable"`, `"unmistakeble"`))
	must(t, os.WriteFile(path, b, 0o600))
	if _, err := state.OpenReadOnly(path); !errors.Is(err, state.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

// A file that is damaged while it is in use is written again with its history: all of it if the old
// file can still be read, or else the history of the copy. A task that has just ended is always in
// it.
func TestTheHistoryWhenTheFileIsDamagedInUse(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(path string) error
		want string
	}{
		"removed": {os.Remove, "c b a"},
		"replaced": {func(p string) error {
			return errors.Join(os.WriteFile(p+".x", []byte("another"), 0o600), os.Rename(p+".x", p))
		}, "c b a"},
		"cut off": {func(p string) error { return os.Truncate(p, 5000) }, "c a"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("Windows lets nobody remove, replace or truncate a file that is open and mapped")
			}
			path := filepath.Join(t.TempDir(), "state.db")
			db := open(t, path)
			end(t, db, "a", noon)
			must(t, db.Keeper()())
			end(t, db, "b", noon)
			must(t, tt.do(path))
			end(t, db, "c", noon)
			_ = db.Close()
			db = open(t, path)
			if got := strings.Join(names(t, db, 0), " "); got != tt.want || db.Repaired != nil {
				t.Errorf("got %q, want %q; %v", got, tt.want, db.Repaired)
			}
		})
	}
}

// endless ends one task after another, each in the transaction that deletes its result, until the
// process is killed.
func endless(path string) {
	db, err := state.Open(path)
	if err != nil {
		panic(err)
	}
	save := func(change func(tx *state.Tx)) {
		if err := db.Update(change); err != nil {
			panic(err)
		}
	}
	for n := db.Achieved(noon, 1).Finished; ; n++ {
		name := fmt.Sprint("r_", n)
		key := state.Key(project, name)
		save(func(tx *state.Tx) { db.Results.Put(tx, key, state.Result{Project: project}) })
		save(func(tx *state.Tx) {
			db.Results.Delete(tx, key)
			db.End(tx, state.EndedTask{Project: project, Name: name, Received: noon, Finished: noon, Outcome: state.TaskFinished})
		})
		_, _ = os.Stdout.WriteString(".")
	}
}

// Whenever the process is killed, each task is either still a result or in the history, once.
func TestAKillLosesAndDoublesNothing(t *testing.T) {
	if path := os.Getenv("STATE_ENDLESS"); path != "" {
		endless(path)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "state.db")
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAKillLosesAndDoublesNothing$")
		cmd.Env = append(os.Environ(), "STATE_ENDLESS="+path)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			_, err = io.ReadFull(out, make([]byte, 20+30*round))
		}
		must(t, err)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		db := open(t, path)
		got := names(t, db, 0)
		if db.Repaired != nil || len(got) < 20 {
			t.Fatalf("%d tasks, %v", len(got), db.Repaired)
		}
		for i, name := range got {
			if want := fmt.Sprint("r_", len(got)-1-i); name != want {
				t.Fatalf("got %s, want %s", name, want)
			}
			if _, held := db.Results.Get(state.Key(project, name)); held {
				t.Errorf("%s is in the history and in the queue", name)
			}
		}
		if n := db.Achieved(noon, 1).Finished; n != len(got) {
			t.Errorf("the day counts %d of %d tasks", n, len(got))
		}
		must(t, db.Close())
	}
}
