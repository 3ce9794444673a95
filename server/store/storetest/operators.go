package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// operators sign in once with a link, and stay until they sign out or their time is over.
func operators(t *testing.T, s *store.Store) {
	hour := T0.Add(time.Hour)
	enter := func(link, session string, now time.Time) error {
		return s.Update(t.Context(), func(tx *store.Tx) error {
			return tx.SignIn(link, T0.Add(time.Minute), store.OperatorSession{Hash: session, Actor: "ada", Expires: hour}, now)
		})
	}
	is := func(session string, now time.Time, want error) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			actor, err := tx.Operator(session, now)
			if !errors.Is(err, want) || want == nil && actor != "ada" {
				t.Errorf("%s is %q, %v", session, actor, err)
			}
			return nil
		})
	}
	if err := enter("link", "a", T0); err != nil {
		t.Fatal(err)
	}
	if err := enter("link", "b", T0); !errors.Is(err, store.ErrExists) {
		t.Errorf("a link works twice: %v", err)
	}
	is("a", T0, nil)
	is("b", T0, store.ErrNotFound)
	is("a", hour, store.ErrNotFound)
	if err := enter("other", "c", T0.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	Update(t, s, func(tx *store.Tx) error { return tx.SignOut("a") })
	is("a", T0, store.ErrNotFound)
	is("c", T0, nil)
}
