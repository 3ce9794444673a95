package view

import (
	"reflect"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

func TestHostShowTellsHowFastItIs(t *testing.T) {
	st := storetest.Open(t, "")
	now := time.Unix(1_800_000_000, 0)
	var version int64
	storetest.Update(t, st, func(tx *store.Tx) error {
		app, err := tx.InsertApp(store.App{CreateTime: now, Name: "a", Validator: "bitwise", Assimilator: "copy"})
		if err != nil {
			return err
		}
		version, err = storetest.AddVersion(tx, "p", store.AppVersion{CreateTime: now, AppID: app, VersionNum: 103, PlanClass: "mt"})
		if err != nil {
			return err
		}
		for host := range int64(5) {
			h := store.HostAppVersion{HostID: host + 1, AppVersionID: version, BenchmarkFlops: 2e9, Vote: 100}
			if host == 0 {
				h.Elapsed, h.NJobsToday = speed.Average{N: 10, Mean: 1e-8, Var: 4e-18}, 3
			}
			if err := tx.SaveHostAppVersion(h); err != nil {
				return err
			}
		}
		return nil
	})
	common := HostVersion{
		AppVersionID: version, App: "a", VersionNum: 103, Platform: "p", PlanClass: "mt", Vote: 1, BenchmarkFlops: 2e9,
		Version: VersionSpeed{Hosts: 5, Stretch: 1},
	}
	taught, other := common, common
	taught.NJobsToday, taught.Samples, taught.Elapsed, taught.Variance = 3, 10, 1e-8, 4e-18
	taught.Flops, taught.From = 1e8, speed.FromHost
	other.Flops, other.From = 2e9, speed.FromVersion
	for id, want := range map[int64][]HostVersion{1: {taught}, 2: {other}, 9: {}} {
		err := st.View(t.Context(), func(tx *store.View) error {
			got, err := hostVersions(tx, id, func(string) string { return "" })
			if !reflect.DeepEqual(got, want) {
				t.Errorf("host %d: got %+v\nwant %+v", id, got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestUserShowTellsHowOftenComputersFail(t *testing.T) {
	st := storetest.Open(t, "")
	now := time.Unix(1_800_000_000, 0)
	storetest.Update(t, st, func(tx *store.Tx) error {
		user, err := tx.InsertUser(store.User{CreateTime: now, Name: "u", EmailAddr: "u@example.org", Authenticator: "00000000000000000000000000000001"})
		if err != nil {
			return err
		}
		host, err := tx.InsertHost(store.Host{CreateTime: now, UserID: user})
		if err != nil {
			return err
		}
		return tx.SaveHostAppVersion(store.HostAppVersion{HostID: host, AppVersionID: 1, ErrorRate: 0.5})
	})
	err := st.View(t.Context(), func(tx *store.View) error {
		u, err := UserBy(tx, "u@example.org", now)
		if err == nil && (len(u.Computers) != 1 || u.Computers[0].ErrorRate != 0.5) {
			t.Errorf("computers: %+v", u.Computers)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
