package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

func waiting(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	first, results := Add(t, s, w.Workunit("first"), 1)
	next := w.Workunit("next")
	next.Predecessor, next.PredecessorPending, next.Awaiting = first.ID, true, true
	next, _ = Add(t, s, next, 1, "in")
	Update(t, s, func(tx *store.Tx) error {
		if err := tx.Chain(first.ID, T0.Add(-time.Second)); err != nil {
			return err
		}
		return tx.AwaitFile(next.ID, "in")
	})
	Update(t, s, func(tx *store.Tx) error {
		wu, err := tx.Workunit(first.ID)
		if err != nil || !wu.HasSuccessor || !wu.TransitionTime.Equal(T0.Add(-time.Second)) {
			t.Errorf("predecessor: %+v, %v", wu, err)
		}
		names, err := tx.AwaitedFiles("", 9)
		if err != nil || len(names) != 1 || names[0] != "in" {
			t.Errorf("awaited: %v, %v", names, err)
		}
		ids, err := tx.AwaitedBy("in", 9)
		if err != nil || len(ids) != 1 || ids[0] != next.ID {
			t.Errorf("awaited by %v, %v", ids, err)
		}
		old, err := tx.Workunit(next.ID)
		if err != nil {
			return err
		}
		last, err := tx.FileArrived(old, "in", "<new/>")
		if err != nil {
			return err
		}
		if last {
			t.Error("the last file came; but its predecessor is missing")
		}
		waits, err := tx.WaitingSuccessors(first.ID)
		if err != nil {
			return err
		}
		if len(waits) != 1 {
			t.Errorf("waiting: %v", waits)
		}
		if at, err := chained(tx.View, w.Host.ID); err != nil || !at.IsZero() {
			t.Errorf("nothing of a chain was reported, but %v, %v", at, err)
		}
		r := results[0]
		r.HostID, r.UserID, r.SentTime, r.ReportDeadline = w.Host.ID, w.Host.UserID, T0, T0.Add(time.Hour)
		if err := tx.Send(r); err != nil {
			return err
		}
		sent, err := tx.Results([]int64{r.ID})
		if err != nil {
			return err
		}
		over := sent[r.ID]
		over.ServerState, over.Outcome, over.ReceivedTime = store.Over, store.Success, T0.Add(time.Minute)
		if err := tx.SaveResults([]store.ResultChange{{Old: sent[r.ID], Now: over}}); err != nil {
			return err
		}
		if at, err := chained(tx.View, w.Host.ID); err != nil || !at.Equal(T0.Add(time.Minute)) {
			t.Errorf("the last of a chain was reported at %v, %v", at, err)
		}
		if err := tx.AddAffinity(w.Host.ID, next.ID, results[0].ID); err != nil {
			return err
		}
		if err := tx.ReleaseSuccessor(next.ID, T0.Add(time.Hour)); err != nil {
			return err
		}
		return tx.NoSuccessors(first.ID)
	})
	lost(t, s, func(tx *store.Tx) error {
		_, err := tx.FileArrived(next, "in", "<new/>")
		return err
	}, store.ErrLost)
	Update(t, s, func(tx *store.Tx) error {
		wu, err := tx.Workunit(next.ID)
		if err != nil || wu.Awaiting || wu.PredecessorPending || wu.XMLDoc != "<new/>" {
			t.Errorf("released: %+v, %v", wu, err)
		}
		kept, err := keptFor(tx.View, w.Host.ID)
		if err != nil || len(kept) != 1 || kept[0].Predecessor != results[0].ID || !kept[0].ReservedUntil.Equal(T0.Add(time.Hour)) {
			t.Errorf("kept: %+v, %v", kept, err)
		}
		if at, err := chained(tx.View, w.Host.ID); err != nil || !at.IsZero() {
			t.Errorf("the next of the chain is free, but %v, %v", at, err)
		}
		return tx.DropAffinity(w.Host.ID, next.ID)
	})
	view(t, s, func(tx *store.View) error {
		kept, err := keptFor(tx, w.Host.ID)
		if err != nil || len(kept) != 0 {
			t.Errorf("kept: %+v, %v", kept, err)
		}
		list, err := tx.Unsent(next.Kind(), store.First, 9, store.Slice{})
		for _, c := range list {
			if !c.ReservedUntil.IsZero() {
				t.Errorf("kept for nobody: %+v", c)
			}
		}
		return err
	})
}

func hostFiles(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	id := w.Host.ID
	Update(t, s, func(tx *store.Tx) error {
		for _, list := range [][]store.HostFile{
			{{HostID: id, Name: "a", NBytes: 1}, {HostID: id, Name: "b", NBytes: 2}},
			{{HostID: id, Name: "b", NBytes: 2}, {HostID: id, Name: "c", NBytes: 3}},
		} {
			if err := tx.SetHostFiles(id, list); err != nil {
				return err
			}
		}
		list, err := tx.HostFiles(0)
		if err != nil {
			return err
		}
		if len(list) != 2 || list[0].Name != "b" || list[1].NBytes != 3 {
			t.Errorf("got %+v", list)
		}
		now := T0.Add(time.Hour)
		if err := store.Change(tx.Host, id, tx.UpdateHost, func(h *store.Host) { h.RPCTime = now }); err != nil {
			return err
		}
		for name, want := range map[string]time.Time{"b": now, "a": {}} {
			if at, err := tx.HeardOfFile(name); err != nil || !at.Equal(want) {
				t.Errorf("a host with file %s made a request at %v, %v; want %v", name, at, err, want)
			}
		}
		return nil
	})
	var done store.FileOrder
	Update(t, s, func(tx *store.Tx) error {
		for _, action := range []store.FileAction{store.FilePut, store.FileDelete} {
			if _, err := tx.AddFileOrder(store.FileOrder{CreateTime: T0, HostID: id, Action: action, Name: "a"}); err != nil {
				return err
			}
		}
		h, err := tx.Host(id)
		if err != nil || h.FileOrders != 1 {
			t.Errorf("%d orders, %v; want the later alone", h.FileOrders, err)
		}
		list, err := tx.FileOrders(id, 9)
		if err != nil || len(list) != 1 || list[0].Action != store.FileDelete {
			t.Fatalf("got %+v, %v", list, err)
		}
		done = list[0]
		if err := tx.FileOrderFails(done.ID, -131); err != nil {
			return err
		}
		if list, err := tx.FileOrders(id, 9); err != nil || len(list) != 1 || list[0].Status != -131 {
			t.Errorf("an order that failed: %+v, %v", list, err)
		}
		if err := tx.FileOrderDone(done, T0); err != nil {
			return err
		}
		all, err := tx.AllFileOrders(0, 9)
		if len(all) != 2 || all[1].DoneTime.IsZero() || all[1].Status != 0 {
			t.Errorf("got %+v", all)
		}
		return err
	})
	lost(t, s, func(tx *store.Tx) error { return tx.FileOrderDone(done, T0) }, store.ErrLost)
	lost(t, s, func(tx *store.Tx) error {
		_, err := tx.AddFileOrder(store.FileOrder{CreateTime: T0, HostID: id + 1, Action: store.FilePut, Name: "a"})
		return err
	}, store.ErrNotFound)
}

func messages(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 1)
	Update(t, s, func(tx *store.Tx) error {
		for i, text := range []string{"old and handled", "old", "handled"} {
			m := store.MsgFromHost{
				CreateTime: T0, HostID: w.Host.ID, ResultID: rs[0].ID, AppID: w.App.ID, ResultName: "a_0", SentTime: T0, XML: text,
			}
			if i == 2 {
				m.CreateTime = T0.Add(2 * time.Hour)
			}
			if _, err := tx.AddMsgFromHost(m); err != nil {
				return err
			}
		}
		list, err := tx.MsgsFromHost(0, 9)
		if err != nil {
			return err
		}
		for _, m := range list {
			if m.XML != "old" {
				if err := tx.MsgHandled(m.ID); err != nil {
					return err
				}
			}
		}
		if n, size, err := tx.SizeOfMsgs(list[0].ResultID); n < 1 || size < int64(len(list[0].XML)) || err != nil {
			t.Errorf("%d messages of %d bytes, %v", n, size, err)
		}
		if n, err := tx.PurgeMsgs(T0.Add(time.Hour)); n != 1 || err != nil {
			t.Errorf("purged %d, %v; want 1", n, err)
		}
		list, err = tx.MsgsFromHost(0, 9)
		if len(list) != 2 || list[0].XML != "old" || list[1].XML != "handled" {
			t.Errorf("left: %+v", list)
		}
		return err
	})
}

func sendable(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	view(t, s, func(tx *store.View) error {
		if n, err := tx.NewestResult(); err != nil || n != 0 {
			t.Errorf("the newest of none is %d, %v", n, err)
		}
		return nil
	})
	_, first := Add(t, s, w.Workunit("first"), 2)
	keptWU, kept := Add(t, s, w.Workunit("kept"), 1)
	Update(t, s, func(tx *store.Tx) error { return tx.ReserveUntil(keptWU.ID, T0.Add(time.Hour)) })
	view(t, s, func(tx *store.View) error {
		for _, tt := range []struct {
			name  string
			at    time.Time
			after int64
			limit int
			want  []int64
		}{
			{"while one is kept", T0, 0, 9, []int64{first[0].ID, first[1].ID}},
			{"kept no longer", T0.Add(2 * time.Hour), 0, 9, []int64{first[0].ID, first[1].ID, kept[0].ID}},
			{"after the first", T0.Add(2 * time.Hour), first[0].ID, 9, []int64{first[1].ID, kept[0].ID}},
			{"at most one", T0, 0, 1, []int64{first[0].ID}},
		} {
			got, err := tx.SendableAfter(tt.at, tt.after, tt.limit)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, %v; want %v", tt.name, got, err, tt.want)
			}
			if tt.after > 0 {
				continue
			}
			if got, err = tx.Sendable(tt.at, tt.limit); err != nil || len(got) != len(tt.want) {
				t.Errorf("%s: %v, %v in any order; want %v", tt.name, got, err, tt.want)
			}
		}
		if n, err := tx.NewestResult(); err != nil || n != kept[0].ID {
			t.Errorf("the newest is %d, %v", n, err)
		}
		return nil
	})
}

func chained(tx *store.View, host int64) (at time.Time, err error) {
	err = tx.Ask(store.Chained(host, func(t time.Time) { at = t }))
	return at, err
}

func keptFor(tx *store.View, host int64) (list []store.Kept, err error) {
	err = tx.Ask(store.KeptFor(host, 9, func(k store.Kept) { list = append(list, k) }))
	return list, err
}
