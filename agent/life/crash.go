package life

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/state"
)

// An agent that crashes and restarts would start the same tasks again. If one of them is the cause,
// however it may be, the agent would crash again, forever and to the harm of all projects. So the
// tasks that ran are suspects: they are started one after the other, and one that has crashed the
// agent twice is set aside until a person decides. An agent that was killed, or whose computer lost
// its power, has not crashed.

// crashFile is the file to which Go writes its last words.
const (
	crashFile = "crash.log"
	maxCrash  = 1 << 20 // of them that are read
)

// Suspects are started suspectsApart from each other. A task that has run for suspectFor is no
// longer a suspect.
const (
	suspectsApart = 2 * time.Minute
	suspectFor    = time.Hour
)

// CatchCrashes makes the program write to a file when it crashes, and returns the output of an
// earlier agent, or "" if that did not crash.
func CatchCrashes(dataDir string) (said string, err error) {
	path := filepath.Join(dataDir, crashFile)
	if words, err := foreigndir.ReadHead(path, maxCrash); err == nil && crashed(words) {
		said = string(words)
		if err := os.Rename(path, path+".1"); err != nil {
			return said, err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return said, err
	}
	defer func() { _ = f.Close() }() // the runtime has its own
	return said, debug.SetCrashOutput(f, debug.CrashOptions{})
}

// crashed reports whether the output is from a crash. A person can also request it to see what a
// program does.
func crashed(words []byte) bool {
	return len(words) > 0 && !bytes.HasPrefix(words, []byte("SIGQUIT"))
}

// suspect finds the tasks that ran when an earlier agent crashed, and clears the record of running
// tasks.
func (l *Life) suspect(now time.Time) {
	var suspects []string
	l.Save(func(tx *state.Tx) {
		for key, r := range l.DB.Results.All() {
			if !r.Live {
				continue
			}
			r.Live = false
			if l.LastWords != "" && r.Computing() {
				r.Crashes++
				suspects = append(suspects, key)
			}
			l.DB.Results.Put(tx, key, r)
		}
	})
	if l.LastWords == "" {
		return
	}
	first, _, _ := strings.Cut(l.LastWords, "\n")
	l.Log.Error("the agent crashed", "words", first, "file", crashFile+".1", "tasks", len(suspects))
	started := func(key string) time.Time { r, _ := l.DB.Results.Get(key); return r.LastStart }
	slices.SortStableFunc(suspects, func(x, y string) int { return started(y).Compare(started(x)) }) // the last first
	l.Save(func(tx *state.Tx) {
		begin := now
		for _, key := range suspects {
			r, _ := l.DB.Results.Get(key)
			if r.SetAside = r.Crashes > 1; r.SetAside {
				l.Log.Error("task set aside after the agent crashed twice while it was running", "project", r.Project, "result", r.Name)
			} else {
				r.NotBefore = begin
				begin = begin.Add(suspectsApart)
			}
			l.DB.Results.Put(tx, key, r)
		}
	})
}

// Trust forgets the suspicion of tasks that have run for long.
func (l *Life) Trust(now time.Time) {
	for _, run := range l.running {
		r, ok := l.DB.Results.Get(run.key)
		if !ok || r.Crashes == 0 || run.paused || now.Sub(run.since) < suspectFor {
			continue
		}
		r.Crashes = 0
		l.Save(func(tx *state.Tx) { l.DB.Results.Put(tx, run.key, r) })
	}
}
