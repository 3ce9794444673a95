package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// apply makes collected changes of many callers at a time. Some are impossible, and some are of the same rows.
func apply(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	const n = 40
	results := addMany(t, s, w, "x", n)
	hosts := make([]store.Host, n)
	Update(t, s, func(tx *store.Tx) error {
		for i := range hosts {
			h := store.Host{CreateTime: T0, UserID: w.User.ID, Venue: fmt.Sprint(i)}
			id, err := tx.InsertHost(h)
			if err != nil {
				return err
			}
			h.ID = id
			hosts[i] = h
		}
		return nil
	})
	// Each host is sent a result, twice, by two processes. Some workunits are canceled.
	Update(t, s, func(tx *store.Tx) error {
		for i := 0; i < n; i += 10 {
			if err := store.Change(tx.Workunit, results[i].WorkunitID, tx.SaveWorkunit, func(wu *store.Workunit) { wu.ErrorMask |= store.ErrorCancelled }); err != nil {
				return err
			}
		}
		return nil
	})
	errs := make([]error, 2*n)
	var all sync.WaitGroup
	for i := range errs {
		host, x := hosts[i/2], results[i/2]
		x.HostID, x.UserID, x.SentTime, x.ReportDeadline = host.ID, w.User.ID, T0, T0.Add(time.Hour)
		all.Go(func() {
			c, now := store.Collect(), host
			now.RPCSeqno, now.NResultsToday = 1, 1
			c.SetCause(T0, "scheduler", "")
			errs[i] = errors.Join(
				c.HoldHost(host.ID), c.HoldWorkunits([]int64{x.WorkunitID}), c.SendToUser(x),
				c.AddWork(store.HostAppVersion{HostID: host.ID, AppVersionID: 1, NJobsToday: 1}),
				c.TransitionEachBy(map[int64]time.Time{x.WorkunitID: T0}), c.UpdateHost(host, now),
			)
			if errs[i] == nil {
				errs[i] = s.Apply(t.Context(), c)
			}
		})
	}
	all.Wait()
	for i, x := range results {
		first, second := errs[2*i], errs[2*i+1]
		sent := 1
		if i%10 == 0 {
			sent = 0
		}
		made := 0
		for _, err := range []error{first, second} {
			if err == nil {
				made++
			} else if !errors.Is(err, store.ErrLost) {
				t.Errorf("%s: %v", x.Name, err)
			}
		}
		if made != sent {
			t.Errorf("%s: %v, %v; want %d success", x.Name, first, second, sent)
		}
		view(t, s, func(tx *store.View) error {
			h, err := tx.Host(hosts[i].ID)
			records, again := tx.HostAppVersions(h.ID)
			r, last := tx.Result(x.ID)
			if h.RPCSeqno != int64(sent) || len(records) != sent || (r.ServerState == store.InProgress) != (sent == 1) {
				t.Errorf("%s: %s, %+v, %+v", x.Name, r.ServerState, h, records)
			}
			return errors.Join(err, again, last)
		})
	}
}

// work stores the part of a host's record that requests change. The part of validators stays.
func work(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	record := func(edit func(*store.HostAppVersion)) store.HostAppVersion {
		h := store.HostAppVersion{HostID: w.Host.ID, AppVersionID: -7, MaxJobsPerDay: 5, NJobsToday: 2, ConsecutiveValid: 3, ErrorRate: 0.25, BenchmarkFlops: 1e9}
		edit(&h)
		return h
	}
	first := record(func(*store.HostAppVersion) {})
	Update(t, s, func(tx *store.Tx) error { return tx.AddWork(first) })
	lost(t, s, func(tx *store.Tx) error { return tx.AddWork(first) }, store.ErrLost)
	Update(t, s, func(tx *store.Tx) error {
		return tx.SaveHostAppVersion(record(func(h *store.HostAppVersion) { h.Turnaround = 60 }))
	})
	Update(t, s, func(tx *store.Tx) error {
		return tx.SaveWork(first, record(func(h *store.HostAppVersion) { h.NJobsToday, h.BenchmarkFlops = 3, 2e9 }))
	})
	lost(t, s, func(tx *store.Tx) error {
		return tx.SaveWork(first, record(func(h *store.HostAppVersion) { h.NJobsToday = 3 }))
	}, store.ErrLost)
	failed := func(h *store.HostAppVersion) { h.MaxJobsPerDay, h.ConsecutiveValid, h.ErrorRate = 4, 0, 0.5 }
	Update(t, s, func(tx *store.Tx) error { return tx.SaveWork(first, record(failed)) })
	lost(t, s, func(tx *store.Tx) error { return tx.SaveWork(first, record(failed)) }, store.ErrLost)
	view(t, s, func(tx *store.View) error {
		got, err := tx.HostAppVersion(w.Host.ID, -7)
		if want := record(func(h *store.HostAppVersion) {
			failed(h)
			h.NJobsToday, h.BenchmarkFlops, h.Turnaround = 3, 2e9, 60
		}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		return err
	})
}
