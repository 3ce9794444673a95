package validator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// meeting is the test program's main function as a validator. It leaves a file with its workunit's
// name in a folder, waits for the others that are part of the workunit's name, and calls all
// results valid. "c-a-b" waits for a and b. "x-crash" fails.
func meeting(folder string) error {
	var q question
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return err
	}
	own, others, _ := strings.Cut(q.Workunit.Name, "-")
	if err := os.WriteFile(filepath.Join(folder, own), nil, 0o600); err != nil {
		return err
	}
	for _, other := range strings.FieldsFunc(others, func(r rune) bool { return r == '-' }) {
		if other == "crash" {
			return errors.New("crashed")
		}
		if err := testwait.Poll(context.Background(), func() error {
			_, err := os.Stat(filepath.Join(folder, other))
			return err
		}); err != nil {
			return fmt.Errorf("%s has not come: %w", other, err)
		}
	}
	a := answer{Canonical: q.Results[0].Name, Results: make(map[string]string)}
	for _, r := range q.Results {
		a.Results[r.Name] = "valid"
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// meet makes workunits that a program validates, AtOnce of them at a time. Of each workunit there
// is one result.
func meet(t *testing.T, atOnce int) (v *Validator, add func(names ...string), valid func() []string) {
	t.Helper()
	w := newWorld(t, 1, "text")
	t.Setenv("VALIDATOR_MEETS", t.TempDir())
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.v.AtOnce = atOnce
	w.v.Checker = func(context.Context, int64) (Checker, error) {
		return program{hook.Command{Args: []string{exe}}, Env{Files: w.files, App: "upper"}}, nil
	}
	var ids []int64
	add = func(names ...string) {
		for _, name := range names {
			wu := w.made.Workunit(name)
			wu.MinQuorum, wu.TargetNResults, wu.TransitionTime = 1, 1, store.Never
			wu, _ = storetest.Add(t, w.v.Store, wu, 0)
			w.update(func(tx *store.Tx) error { return w.report(tx, wu, 0, "text") })
			w.wu.ID = wu.ID
			w.ask()
			ids = append(ids, wu.ID)
		}
	}
	valid = func() (names []string) {
		w.update(func(tx *store.Tx) error {
			for _, id := range ids {
				wu, err := tx.Workunit(id)
				if err != nil {
					return err
				}
				if wu.CanonicalResultID != 0 {
					names = append(names, wu.Name)
				}
			}
			return nil
		})
		return names
	}
	return w.v, add, valid
}

// As many programs run at a time as may.
func TestProgramsAtOnce(t *testing.T) {
	v, add, valid := meet(t, 3)
	add("a-b-c", "b-a-c", "c-a-b", "d", "e")
	if n, err := v.Pass(t.Context(), storetest.T0); n != 6 || err != nil { // with the one of newWorld
		t.Errorf("handled %d, %v", n, err)
	}
	if got := valid(); len(got) != 5 {
		t.Errorf("valid: %v", got)
	}
}

// A program that is slow or fails delays no other workunit, not even one that needs validation
// later.
func TestAProgramHoldsUpItsOwnWorkunitOnly(t *testing.T) {
	v, add, valid := meet(t, 2)
	stored := make(chan struct{}, 100)
	v.Stored = func() { stored <- struct{}{} }
	add("slow-later", "x-crash", "a", "b")
	end := make(chan error, 1)
	go func() {
		_, err := v.Pass(t.Context(), storetest.T0)
		end <- err
	}()
	testwait.Until(t, "the others", func() bool { return slices.Equal(valid(), []string{"a", "b"}) })
	<-stored
	add("later")
	if err := <-end; err != nil {
		t.Fatal(err)
	}
	if got := valid(); !slices.Equal(got, []string{"slow-later", "a", "b", "later"}) {
		t.Errorf("valid: %v", got)
	}
}

// After a program has hung, the other workunits of its application wait for a minute. Otherwise it
// could keep all places for programs.
func TestAProgramThatHangs(t *testing.T) {
	v, add, valid := meet(t, 1)
	add("slow-never", "a")
	patient := v.Checker
	v.Checker = func(ctx context.Context, app int64) (Checker, error) {
		c, err := patient(ctx, app)
		p := c.(program)
		p.cmd.Timeout = 10 * time.Second
		return p, err
	}
	for minute, want := range [][]string{nil, {"a"}} {
		if _, err := v.Pass(t.Context(), storetest.T0.Add(time.Duration(minute)*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got := valid(); !slices.Equal(got, want) {
			t.Errorf("minute %d: valid %v, want %v", minute, got, want)
		}
		v.Checker = patient
	}
}

// Programs end with the pass that started them.
func TestProgramsEndWithThePass(t *testing.T) {
	v, add, valid := meet(t, 2)
	add("slow-never", "a")
	ctx, cancel := context.WithCancelCause(t.Context())
	v.Stored = func() { cancel(errStopped) }
	if _, err := v.Pass(ctx, storetest.T0); !errors.Is(err, errStopped) {
		t.Errorf("got %v", err)
	}
	if got := valid(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("valid: %v", got)
	}
}

var errStopped = errors.New("stopped")
