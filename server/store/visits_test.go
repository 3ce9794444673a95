package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A user who logs in again and again does not fill the database.
func TestVisitsOfAUserHaveAnEnd(t *testing.T) {
	s := storetest.Open(t, "")
	now := time.Unix(1_800_000_000, 0)
	hash := func(i int) string { return fmt.Sprintf("%064d", i) }
	const n = 200
	storetest.Update(t, s, func(tx *store.Tx) error {
		var ids [2]int64
		for i := range ids {
			id, err := tx.InsertUser(store.User{CreateTime: now, Name: "x", EmailAddr: fmt.Sprint(i, "@example.org"), Authenticator: protocol.Authenticator("k" + hash(i)[33:]), CrossProjectID: hash(i)[32:]})
			if err != nil {
				return err
			}
			ids[i] = id
		}
		if err := tx.AddSession("another user's", ids[1], now, now.Add(time.Hour)); err != nil {
			return err
		}
		for i := range n {
			at := now.Add(time.Duration(i) * time.Second)
			if err := tx.AddSession(hash(i), ids[0], at, at.Add(time.Hour)); err != nil {
				return err
			}
		}
		return nil
	})
	err := s.View(t.Context(), func(tx *store.View) error {
		there := 0
		for i := range n {
			if _, err := tx.UserOfSession(hash(i), now); err == nil {
				there++
			} else if !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if there > 50 {
			t.Errorf("%d visits of one user are kept", there)
		}
		for _, kept := range []string{hash(n - 1), hash(n - 20), "another user's"} {
			if _, err := tx.UserOfSession(kept, now); err != nil {
				t.Errorf("visit %s: %v", kept, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
