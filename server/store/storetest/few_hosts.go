package storetest

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// tooFewHosts checks which workunits need results of more computers, or accounts, than are active.
func tooFewHosts(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var version, team int64
	Update(t, s, func(tx *store.Tx) (err error) {
		if version, err = AddVersion(tx, "linux", store.AppVersion{AppID: w.App.ID, VersionNum: 100, XMLDoc: "-"}); err != nil {
			return err
		}
		beside, err := tx.InsertHost(store.Host{CreateTime: T0, UserID: w.User.ID}) // another of the user
		if err != nil {
			return err
		}
		for _, id := range []int64{w.Host.ID, beside} {
			if err := store.Change(tx.Host, id, tx.UpdateHost, func(h *store.Host) { h.RPCTime = T0 }); err != nil {
				return err
			}
		}
		team, err = tx.InsertTeam(store.Team{CreateTime: T0, Name: "team", UserID: w.User.ID})
		if err != nil {
			return err
		}
		return store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.TeamID = team })
	})
	ask := func(wu store.Workunit, perUser, want bool) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			found := false
			err := tx.Ask(store.TooFewHosts(wu.Batch, T0, perUser, func(int64) { found = true }))
			if found != want {
				t.Errorf("%s, by user %t: %t, want %t", wu.Name, perUser, found, want)
			}
			return err
		})
	}
	over := func(outcome store.Outcome, validate store.ValidateState) func(*store.Result) {
		return func(r *store.Result) {
			r.ServerState, r.Outcome, r.ValidateState = store.Over, outcome, validate
		}
	}
	for i, tt := range []struct {
		name             string
		quorum           int
		sent             func(*store.Result) // the result of the first host (nil: none)
		perHost, perUser bool
	}{
		{"one for each", 2, nil, false, true},
		{"too few for it", 3, nil, true, true},
		{"in progress", 2, func(*store.Result) {}, false, true},
		{"successful", 2, over(store.Success, store.ValidateInit), false, true},
		{"successful, and all that it needs", 1, over(store.Success, store.ValidateInit), false, false},
		{"failed", 1, over(store.ClientError, store.ValidateInit), false, true},
		{"failed, and needed", 2, over(store.ClientError, store.ValidateInit), true, true},
		{"invalid", 2, over(store.Success, store.Invalid), true, true},
	} {
		wu := w.Workunit(tt.name)
		wu.Batch, wu.MinQuorum, wu.TargetNResults = int64(i+1), tt.quorum, tt.quorum
		_, results := Add(t, s, wu, 2)
		if tt.sent != nil {
			w.sendAndEnd(t, s, results[0], version, tt.sent)
		}
		ask(wu, false, tt.perHost)
		ask(wu, true, tt.perUser)
	}
	for i, tt := range []struct {
		target store.Target
		want   bool
	}{
		{store.Target{Type: store.TargetUser, ID: w.User.ID}, false},
		{store.Target{Type: store.TargetTeam, ID: team}, false},
		{store.Target{Type: store.TargetTeam, ID: team + 1}, true},
	} {
		wu := w.Workunit(fmt.Sprint("for ", tt.target))
		wu.Batch, wu.Target = int64(100+i), tt.target
		wu, _ = Add(t, s, wu, 1)
		ask(wu, false, tt.want)
	}
}
