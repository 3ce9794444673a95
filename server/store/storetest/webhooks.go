package storetest

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// webhooks checks that webhooks are due one after the other, each for one process, until they are
// done.
func webhooks(t *testing.T, s *store.Store) {
	var first, revoked int64
	Update(t, s, func(tx *store.Tx) error {
		add := func(token int64, b store.APIBatch) int64 {
			b.CreateTime, b.TokenID, b.Expected = T0, token, 1
			id, err := tx.InsertAPIBatch(b)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		lab, err := tx.InsertToken(store.Token{CreateTime: T0, Name: "lab", Hash: "1a"})
		if err != nil {
			return err
		}
		gone, err := tx.InsertToken(store.Token{CreateTime: T0, Name: "gone", Hash: "2b"})
		if err != nil {
			return err
		}
		first, revoked = add(lab, store.APIBatch{Name: "first", Webhook: "https://lab/x"}), add(gone, store.APIBatch{Name: "revoked", Webhook: "https://lab/y"})
		add(lab, store.APIBatch{Name: "half", Webhook: "https://lab/z"})
		silent := add(lab, store.APIBatch{Name: "silent"})
		for id, owner := range map[int64]int64{first: lab, revoked: gone, silent: lab} {
			if err := changeBatch(tx, store.APIBatch{ID: id, TokenID: owner}, func(b *store.APIBatch) { b.Made = true }); err != nil {
				return err
			}
		}
		return store.Change(tx.TokenByName, "gone", tx.SaveToken, func(x *store.Token) { x.RevokedTime = T0 })
	})
	due := func(at time.Time) (list []store.Webhook) {
		t.Helper()
		view(t, s, func(tx *store.View) (err error) {
			list, err = tx.DueWebhooks(at, 9)
			return err
		})
		return list
	}
	Update(t, s, func(tx *store.Tx) error {
		token, err := tx.TokenByHash("1a")
		if err != nil {
			return err
		}
		return changeBatch(tx, store.APIBatch{ID: first, TokenID: token.ID}, func(b *store.APIBatch) { b.RetiredTime = T0.Add(time.Hour) })
	})
	view(t, s, func(tx *store.View) error {
		token, err := tx.TokenByHash("1a")
		if err != nil {
			return err
		}
		list, err := tx.APIBatches(token.ID, 9)
		for _, b := range list {
			if want := b.ID == first; b.RetiredTime.Equal(T0.Add(time.Hour)) != want || b.RetiredTime.IsZero() == want {
				t.Errorf("%s is retired at %v", b.Name, b.RetiredTime)
			}
		}
		return err
	})
	list := due(T0)
	if len(list) != 1 || list[0].ID != first || list[0].TokenHash != "1a" || list[0].Webhook != "https://lab/x" || !list[0].Due.Equal(T0) {
		t.Fatalf("due: %+v", list)
	}
	old, next := list[0], T0.Add(time.Minute)
	Update(t, s, func(tx *store.Tx) error { return tx.SetWebhook(old, next, 1) })
	lost(t, s, func(tx *store.Tx) error { return tx.SetWebhook(old, next, 1) }, store.ErrLost)
	if list := due(T0); len(list) > 0 {
		t.Errorf("due at once: %+v", list)
	}
	if list = due(next); len(list) != 1 || list[0].Tries != 1 {
		t.Fatalf("due later: %+v", list)
	}
	Update(t, s, func(tx *store.Tx) error { return tx.SetWebhook(list[0], time.Time{}, 1) })
	if list := due(next.Add(time.Hour)); len(list) > 0 {
		t.Errorf("due for ever: %+v", list)
	}
}

// recent looks at the last results that were made.
func recent(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("wu"), 5)
	Update(t, s, func(tx *store.Tx) error { return tx.Send(w.sent(rs[4:])...) })
	for n, want := range map[int64]int{3: 3, 100: 5} {
		var got []store.RecentResult
		view(t, s, func(tx *store.View) error {
			got = got[:0]
			return tx.RecentResults(n, func(r store.RecentResult) { got = append(got, r) })
		})
		sent := 0
		for _, r := range got {
			if r.Sent > 0 && r.HostID == w.Host.ID && r.ServerState == store.InProgress {
				sent++
			}
			if r.Created != T0.Unix() {
				t.Errorf("made at %d", r.Created)
			}
		}
		if len(got) != want || sent != 1 {
			t.Errorf("the last %d: %+v", n, got)
		}
	}
}
