package scheduler_test

import (
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// Work for an account or a computer is sent only to it, and before other work. The replacement for
// a result that failed may be sent there again.
func TestTargets(t *testing.T) {
	w := newWorld(t)
	w.s.Config.ResendLostResults, w.s.Config.OneResultPerUserPerWU = false, true
	ask := func() (names []string) {
		reply := w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1 })
		for _, r := range reply.Results {
			names = append(names, r.Name)
		}
		return names
	}
	want := func(name string) {
		t.Helper()
		got := ask()
		if name == "" && len(got) == 0 || len(got) == 1 && got[0] == name {
			return
		}
		t.Errorf("got %v, want %q", got, name)
	}
	target := func(kind store.TargetType, id int64) func(*store.Workunit) {
		return func(wu *store.Workunit) { wu.Target = store.Target{Type: kind, ID: id} }
	}
	w.addWork("stranger", 1, target(store.TargetUser, w.User.ID+1))
	w.addWork("all", 2, func(wu *store.Workunit) { wu.Priority = 9 })
	w.addWork("user", 1, target(store.TargetUser, w.User.ID))
	want("user_0") // a host that is new
	host := w.result("user_0").HostID
	var team int64
	w.update(func(tx *store.Tx) (err error) {
		if team, err = tx.InsertTeam(store.Team{CreateTime: w.now, Name: "The Starlings"}); err == nil {
			err = store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.TeamID = team })
		}
		return err
	})
	w.addWork("others", 1, target(store.TargetTeam, team+1))
	w.addWork("team", 2, target(store.TargetTeam, team), func(wu *store.Workunit) { wu.MinQuorum, wu.TargetNResults = 2, 2 })
	want("team_0") // the other is for another member: they are compared
	w.addWork("elsewhere", 1, target(store.TargetHost, host+1))
	w.addWork("host", 2, target(store.TargetHost, host))
	want("host_0")
	want("host_1")
	want("all_0")
	want("")
}
