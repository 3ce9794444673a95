package world

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"github.com/starling-grid/starling/state"
)

// A clock that is wrong by h.wrong. All computers of a world share its clock, so what
// differs is moved the other way: the times that a server names, and those that the
// agent wrote down before its clock jumped. A jump while the agent runs is beyond this.

var deadline = regexp.MustCompile(`<report_deadline>([0-9.]+)</report_deadline>`)

// translate converts a server's times to the computer's clock.
func (h *host) translate(answer []byte) []byte {
	return deadline.ReplaceAllFunc(answer, func(b []byte) []byte {
		at, err := strconv.ParseFloat(string(deadline.FindSubmatch(b)[1]), 64)
		h.w.must(err)
		return fmt.Appendf(nil, "<report_deadline>%f</report_deadline>", at-h.wrong.Seconds())
	})
}

// jump sets the clock, ahead by so much or back, while no agent runs.
func (h *host) jump(by time.Duration) {
	w := h.w
	w.tell("%s: its clock jumps by %v", h.name, by)
	h.wrong += by
	w.mu.Lock()
	if by > 0 {
		h.notBefore = time.Time{} // it cannot be aware of that
	}
	w.mu.Unlock()
	db, err := state.Open(filepath.Join(h.dir, "state.db"))
	if !w.must(err) {
		return
	}
	defer func() { w.must(db.Close()) }()
	w.must(db.Update(func(tx *state.Tx) {
		shift(tx, &db.Hosts, -by)
		shift(tx, &db.Projects, -by)
		shift(tx, &db.Files, -by)
		shift(tx, &db.Results, -by)
	}))
}

// shift moves all times of a table.
func shift[V any](tx *state.Tx, t *state.Table[V], by time.Duration) {
	for key, v := range t.All() {
		shiftTimes(reflect.ValueOf(&v).Elem(), by)
		t.Put(tx, key, v)
	}
}

func shiftTimes(v reflect.Value, by time.Duration) {
	if v.Kind() != reflect.Struct {
		return
	}
	if at, ok := reflect.TypeAssert[time.Time](v); ok {
		if !at.IsZero() {
			v.Set(reflect.ValueOf(at.Add(by)))
		}
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			shiftTimes(v.Field(i), by)
		}
	}
}

// fill makes the disk full for the agent's state. Until the returned function is called, which must
// be while the agent runs, each write fails. It returns nil if that is not possible.
func (l *life) fill() (free func()) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		return nil
	}
	fd, ok := descriptor(filepath.Join(l.h.dir, "state.db"))
	if !ok {
		return nil
	}
	back, err := redirect(fd, full)
	if !l.h.w.must(err) {
		return nil
	}
	l.h.w.tell("%s: its disk is full", l.h.name)
	l.full.Store(true)
	return func() {
		back()
		l.full.Store(false)
		l.h.w.tell("%s: its disk has room again", l.h.name)
	}
}

// descriptor finds an open file of this process.
func descriptor(path string) (fd int, ok bool) {
	const dir = "/proc/self/fd"
	list, err := os.ReadDir(dir)
	if err != nil {
		return 0, false
	}
	for _, e := range list {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && target == path {
			fd, err = strconv.Atoi(e.Name())
			return fd, err == nil
		}
	}
	return 0, false
}
