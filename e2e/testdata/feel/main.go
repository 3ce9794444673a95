//go:build linux

// Command feel measures how fast a person's programs run. It prints a JSON object with seconds: of
// computing on one CPU and on all CPUs, of the lateness of a timer, and of reads from the disk that has
// the folder in its argument.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	work   = 3 << 30 // bytes to hash, on each CPU
	ticks  = 2000    // of the timer
	tick   = time.Millisecond
	size   = 256 << 20 // of the file
	page   = 4096
	rounds = 2000 // reads
)

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: feel FOLDER"))
	}
	late := lateness()
	reads, err := read(os.Args[1])
	if err != nil {
		fail(err)
	}
	out, err := json.Marshal(map[string]float64{
		"compute on one CPU":     compute(1),
		"compute on all CPUs":    compute(runtime.NumCPU()),
		"lateness of 1 ms, p50":  quantile(late, 0.5),
		"lateness of 1 ms, p99":  quantile(late, 0.99),
		"read 4 KB of disk, p50": quantile(reads, 0.5),
		"read 4 KB of disk, p99": quantile(reads, 0.99),
	})
	if err != nil {
		fail(err)
	}
	fmt.Println(string(out))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "feel:", err)
	os.Exit(1)
}

func compute(threads int) float64 {
	begin := time.Now()
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			block := make([]byte, 1<<20)
			for range work / len(block) {
				sha256.Sum256(block)
			}
		})
	}
	all.Wait()
	return time.Since(begin).Seconds()
}

// lateness sleeps until one moment after the other, and returns the delay of each, smallest first.
func lateness() (late []float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for next := clock() + tick; len(late) < ticks; next += tick {
		until := unix.NsecToTimespec(int64(next))
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
		}
		now := clock()
		late = append(late, (now - next).Seconds())
		next = max(next, now-tick) // missed moments do not count twice
	}
	slices.Sort(late)
	return late
}

func clock() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // it cannot fail
	return time.Duration(now.Nano())
}

// read reads pages of a new file from the disk, bypassing the page cache. It returns the time of each read,
// shortest first.
func read(dir string) (took []float64, err error) {
	path := filepath.Join(dir, "pages")
	defer os.Remove(path)
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		return nil, fmt.Errorf("%w; choose a folder on a disk", err)
	}
	defer f.Close()
	raw := make([]byte, 2*page)                             // O_DIRECT wants an aligned part of it
	at := page - int(uintptr(unsafe.Pointer(&raw[0]))%page) //nolint:gosec // for alignment only
	buf := raw[at : at+page]
	for range rounds {
		begin := time.Now()
		if _, err := f.ReadAt(buf, rand.Int64N(size/page)*page); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin).Seconds())
	}
	slices.Sort(took)
	return took, nil
}

func quantile(ordered []float64, q float64) float64 { return ordered[int(q*float64(len(ordered)-1))] }
