// Package busyfile waits for files that another program has open for a moment. On Windows, virus
// scanners and search indexes open newly written files, and an open file can be neither renamed nor
// removed. On other systems, a program cannot be run while it is open for writing. A process that is
// being started has all files of its parent open for a moment, also one that the parent is writing.
package busyfile

import "time"

// patience is for how long a file is waited for. A scanner is done with a large one in less.
const patience = 2 * time.Second

// Retry calls f, which renames, removes or runs files, until it succeeds, fails for another reason
// than that one of them is in use, or two seconds have passed. It returns what f returned last.
func Retry(f func() error) error {
	pause := time.Millisecond
	for end := time.Now().Add(patience); ; pause = min(2*pause, 100*time.Millisecond) {
		err := f()
		if err == nil || !inUse(err) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}
