package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// quotas checks that UnfinishedOfToken counts the unfinished and the promised workunits of a token.
func quotas(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	b := store.APIBatch{CreateTime: T0, Name: "a", AppID: w.App.ID, Expected: 5}
	Update(t, s, func(tx *store.Tx) (err error) {
		if b.TokenID, err = tx.InsertToken(store.Token{CreateTime: T0, Name: "one", Hash: "one"}); err != nil {
			return err
		}
		b.ID, err = tx.InsertAPIBatch(b)
		return err
	})
	wu := w.Workunit(fmt.Sprintf("api%d_x", b.ID))
	wu.Batch = b.Number()
	Add(t, s, wu, 1)
	count := func(but int64, now time.Time, want int64) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			if n, err := tx.UnfinishedOfToken(b.TokenID, but, now); err != nil || n != want {
				t.Errorf("%d unfinished, %v, want %d", n, err, want)
			}
			return nil
		})
	}
	count(0, T0, 1)
	Update(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.LockToken(b.TokenID), changeBatch(tx, b, func(b *store.APIBatch) { b.PromisedUntil = T0.Add(time.Hour) }))
	})
	count(0, T0, 5)
	count(b.ID, T0, 0)
	count(0, T0.Add(time.Hour), 1)
	Update(t, s, func(tx *store.Tx) error { return tx.CloseAPIBatch(b.ID) })
	count(0, T0, 1)
	view(t, s, func(tx *store.View) error {
		if now, err := tx.APIBatch(b.ID, b.TokenID); err != nil || !now.Made || now.Expected != 1 {
			t.Errorf("closed: %+v, %v", now, err)
		}
		return nil
	})
}

func changeBatch(tx *store.Tx, b store.APIBatch, change func(*store.APIBatch)) error {
	read := func(id int64) (store.APIBatch, error) { return tx.APIBatch(id, b.TokenID) }
	return store.Change(read, b.ID, tx.SaveAPIBatch, change)
}

// apiBatches are each token's own, and may be filled after they were made.
func apiBatches(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var tokens []int64
	batches := make([]store.APIBatch, 3)
	Update(t, s, func(tx *store.Tx) error {
		tokens = nil
		for _, name := range []string{"one", "two"} {
			id, err := tx.InsertToken(store.Token{CreateTime: T0, Name: name, Hash: name})
			if err != nil {
				return err
			}
			tokens = append(tokens, id)
		}
		for i, owner := range []int64{tokens[0], tokens[0], tokens[1]} {
			b := store.APIBatch{CreateTime: T0, TokenID: owner, Name: string(rune('a' + i)), AppID: w.App.ID}
			var err error
			if b.ID, err = tx.InsertAPIBatch(b); err != nil {
				return err
			}
			batches[i] = b
		}
		return nil
	})
	fill := func(tx *store.Tx) error {
		filled := batches[0]
		filled.Expected = 2
		return tx.SaveAPIBatch(batches[0], filled)
	}
	Update(t, s, fill)
	lost(t, s, fill, store.ErrLost)
	named := func(b store.APIBatch, name string) string { return fmt.Sprintf("api%d_%s", b.ID, name) }
	add := func(name string, b store.APIBatch) (store.Workunit, []store.Result) {
		wu := w.Workunit(named(b, name))
		wu.Batch = b.Number()
		return Add(t, s, wu, 2)
	}
	older, results := add("x", batches[0])
	newer, _ := add("x", batches[1])
	add("y", batches[2])
	Add(t, s, w.Workunit(named(batches[0], "z")), 1) // is in no batch
	view(t, s, func(tx *store.View) error {
		list, err := tx.Batches(1)
		if err == nil && (len(list) != 1 || list[0].Batch != batches[2].Number() || list[0].Name != "c" || list[0].Token != "two") {
			t.Errorf("the newest batch: %+v", list)
		}
		return err
	})
	Update(t, s, func(tx *store.Tx) error {
		if err := tx.Send(w.sent(results[:1])...); err != nil {
			return err
		}
		return store.Change(tx.Result, results[0].ID, tx.SaveResult, func(over *store.Result) {
			over.ServerState, over.Outcome, over.CPUTime, over.ReceivedTime = store.Over, store.Success, 7.5, T0.Add(time.Minute)
		})
	})
	Update(t, s, func(tx *store.Tx) error {
		for i, at := range []time.Time{T0.Add(time.Hour), T0.Add(time.Minute), T0.Add(time.Hour)} {
			if err := changeBatch(tx, batches[i], func(b *store.APIBatch) { b.ExpireTime = at }); err != nil {
				return err
			}
		}
		return nil
	})
	Update(t, s, func(tx *store.Tx) error {
		return errors.Join(
			changeBatch(tx, batches[2], func(b *store.APIBatch) { b.ExpireTime = time.Time{} }),
			changeBatch(tx, batches[0], func(b *store.APIBatch) { b.RetiredTime = T0 }),
		)
	})
	view(t, s, func(tx *store.View) error {
		list, err := tx.ExpiredAPIBatches(T0.Add(2*time.Hour), 0, 9)
		if len(list) != 1 || list[0].ID != batches[1].ID || !list[0].ExpireTime.Equal(T0.Add(time.Minute)) {
			t.Errorf("expired are %+v, %v", list, err)
		}
		if list, err = tx.ExpiredAPIBatches(T0, 0, 9); len(list) != 0 {
			t.Errorf("too early: %+v", list)
		}
		return err
	})
	view(t, s, func(tx *store.View) error {
		for _, tt := range []struct {
			token int64
			name  string
			want  int64
		}{{tokens[0], "x", newer.ID}, {tokens[0], named(batches[0], "x"), older.ID}, {tokens[0], "y", 0}, {tokens[0], named(batches[2], "y"), 0}, {tokens[0], "z", 0}, {tokens[1], "x", 0}} {
			wu, err := tx.APIWorkunit(tt.token, tt.name)
			if wu.ID != tt.want || (tt.want == 0) != errors.Is(err, store.ErrNotFound) {
				t.Errorf("token %d, %s: workunit %d, %v, want %d", tt.token, tt.name, wu.ID, err, tt.want)
			}
		}
		if b, err := tx.APIBatchOf(older.Batch, tokens[0]); err != nil || b.ID != batches[0].ID || b.Expected != 2 {
			t.Errorf("the batch of a workunit is %+v, %v", b, err)
		}
		if _, err := tx.APIBatchOf(older.Batch, tokens[1]); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another token's: %v", err)
		}
		got, err := tx.BatchTimes(older.Batch)
		if want := (store.BatchTimes{CPUTime: 7.5, LastReport: T0.Add(time.Minute)}); got.CPUTime != want.CPUTime || !got.LastReport.Equal(want.LastReport) || got.Credit != 0 {
			t.Errorf("got %+v, want %+v", got, want)
		}
		return err
	})
}
