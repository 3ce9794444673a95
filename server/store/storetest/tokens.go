package storetest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// tokens checks that the bytes and the computing time of tokens are counted, and that Mend corrects the
// counts.
func tokens(t *testing.T, s *store.Store, raw *sql.DB) {
	w := Fill(t, s)
	b := store.APIBatch{CreateTime: T0, Name: "a", AppID: w.App.ID}
	token := store.Token{CreateTime: T0, Name: "one", Hash: "one", MaxBytes: 5}
	other := int64(0)
	Update(t, s, func(tx *store.Tx) (err error) {
		if other, err = tx.InsertToken(store.Token{CreateTime: T0, Name: "two", Hash: "two"}); err != nil {
			return err
		}
		if token.ID, err = tx.InsertToken(token); err != nil {
			return err
		}
		b.TokenID = token.ID
		b.ID, err = tx.InsertAPIBatch(b)
		return err
	})
	token.Quota, token.MaxBytes, token.MaxCPUTime, token.Weight = 1, 2, 3, 0.5
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.Token, token.ID, tx.SaveToken, func(old *store.Token) { *old = token })
	})
	view(t, s, func(tx *store.View) error {
		byID, err := tx.Token(token.ID)
		byName, also := tx.TokenByName("one")
		if err != nil || also != nil || byID.Weight != 0.5 || byName.Quota != 1 || byName.MaxBytes != 2 || byName.MaxCPUTime != 3 {
			t.Errorf("limits %+v, %v, %+v, %v", byID, err, byName, also)
		}
		return nil
	})
	bytes := func(when string, one, two int64) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			a, err := tx.TokenBytes(token.ID)
			b, also := tx.TokenBytes(other)
			if err != nil || also != nil || a != one || b != two {
				t.Errorf("%s: %d and %d bytes, %v, %v; want %d and %d", when, a, b, err, also, one, two)
			}
			return nil
		})
	}
	bytes("at first", 0, 0)
	for range 2 { // the second time, the files are counted already
		Update(t, s, func(tx *store.Tx) error {
			for name, n := range map[string]int64{"shared": 10, "mine": 100} {
				if err := tx.KeepFile(token.ID, name, n); err != nil {
					return err
				}
			}
			return tx.KeepFile(other, "shared", 10)
		})
		bytes("input files", 110, 10)
	}
	Update(t, s, func(tx *store.Tx) error {
		for _, n := range []int64{1000, 2000} {
			if err := tx.KeepOutput(token.ID, b.Number(), n); err != nil {
				return err
			}
		}
		return nil
	})
	bytes("output", 3110, 10)
	Update(t, s, func(tx *store.Tx) error { return tx.DropFiles([]string{"shared", "none"}) })
	bytes("a file is deleted", 3100, 0)
	must := func(query string) {
		t.Helper()
		if _, err := raw.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	must("UPDATE token_bytes SET total = total + 7")
	Update(t, s, func(tx *store.Tx) error { return tx.Mend(T0) })
	bytes("mended", 3100, 0)
	Update(t, s, func(tx *store.Tx) error { return changeBatch(tx, b, func(b *store.APIBatch) { b.RetiredTime = T0 }) })
	bytes("the output is deleted", 100, 0)

	wu := w.Workunit(fmt.Sprintf("api%d_x", b.ID))
	wu.Batch, wu.TokenID = b.Number(), token.ID // 1e9 operations
	_, results := Add(t, s, wu, 3)
	free := w.Workunit("free")
	_, more := Add(t, s, free, 1)
	end := func(r store.Result, flops, cpu, elapsed float64, received time.Time) {
		t.Helper()
		Update(t, s, func(tx *store.Tx) error {
			sent := w.sent([]store.Result{r})
			sent[0].FlopsEstimate = flops
			if err := tx.Send(sent...); err != nil {
				return err
			}
			old, err := tx.Result(r.ID)
			if err != nil {
				return err
			}
			over := old
			over.ServerState, over.Outcome, over.CPUTime, over.ElapsedTime, over.ReceivedTime = store.Over, store.Success, cpu, elapsed, received
			if err := tx.SaveResult(old, over); err != nil {
				return err
			}
			r := over
			for _, next := range []func(){
				func() { r.ValidateState = store.NoCheck },
				func() { r.ValidateState = store.ValidateInit }, // its workunit is tried again
				func() { r.ValidateState = store.Valid },
				func() { r.FileDeleteState = store.DeleteReady },
				func() { r.FileDeleteState = store.DeleteDone },
			} {
				before := r
				next()
				if err := tx.SaveResult(before, r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	end(results[0], 1e8, 20, 25, T0)
	end(results[1], 1e12, 1e30, 2, T0) // more than a computer can have
	end(results[2], 1e8, 0, 0, T0)
	Update(t, s, func(tx *store.Tx) error { // it is reported late, while its files are deleted
		return store.Change(tx.Result, results[2].ID, tx.SaveResult, func(late *store.Result) {
			late.CPUTime, late.ElapsedTime, late.ReceivedTime = 5, 5, T0.Add(48*time.Hour)
		})
	})
	end(more[0], 1e8, 5, 5, T0)
	today := store.DayOf(T0)
	used := func(when string, now time.Time, want ...store.TokenDay) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			got, err := tx.TokenDays(token.ID, now)
			all, also := tx.TokenDays(0, now)
			if err != nil || also != nil || fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(all) != fmt.Sprint(want) {
				t.Errorf("%s: %v, %v; of all %v, %v; want %v", when, got, err, all, also, want)
			}
			return nil
		})
	}
	first := store.TokenDay{TokenID: token.ID, Day: today, CPUTime: 2020, ElapsedTime: 27, ExpectedTime: 11} // an estimate counts as at least a second
	second := store.TokenDay{TokenID: token.ID, Day: today + 2, CPUTime: 5, ElapsedTime: 5, ExpectedTime: 10}
	used("counted", T0, first, second)
	must("UPDATE token_use SET cpu_time = 1, elapsed_time = 1")
	Update(t, s, func(tx *store.Tx) error { return tx.Mend(T0) })
	used("mended", T0, first, second)
	used("30 days later", T0.Add(store.TokenDays*24*time.Hour), second)
	Update(t, s, func(tx *store.Tx) error { return tx.ForgetTokenDays(T0.Add(2 * store.TokenDays * 24 * time.Hour)) })
	used("forgotten", T0, second)
}
