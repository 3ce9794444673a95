package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/projectprefs"
	"github.com/starling-grid/starling/server/store"
)

// A volunteer's choices on the web site reach the volunteer's computers: the venue with its
// settings, the team, and the selected applications.
func TestWhatTheSiteSays(t *testing.T) {
	w := newWorld(t)
	w.addWork("tt_1117", 1)
	first := w.first()
	w.addWork("tt_1118", 1)
	wanted := projectprefs.Set(w.User.ProjectPrefs, "work", projectprefs.Prefs{ResourceShare: 7, Apps: []int64{999}})
	w.update(func(tx *store.Tx) error {
		id, err := tx.InsertTeam(store.Team{CreateTime: w.now, UserID: w.User.ID, Name: "The <Starlings>"})
		return errors.Join(
			err, store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.TeamID, u.ProjectPrefs = id, wanted }),
			store.Change(tx.Host, first.HostID, tx.UpdateHost, func(h *store.Host) { h.Venue = "work" }),
		)
	})
	got := w.as(first.HostID, 2, "01-first-contact-with-work")
	if got.User.TeamID == 0 || got.User.TeamName != "The <Starlings>" || got.Host.Venue == nil || *got.Host.Venue != "work" || !strings.Contains(got.ProjectPrefs, "<venue name=\"work\">") {
		t.Errorf("told %+v, %+v and preferences %s", got.User, got.Host, got.ProjectPrefs)
	}
	if len(got.Results) != 0 || len(got.Refusals) != 1 || got.Refusals[0].Code != protocol.RefusedPreferences || !strings.Contains(texts(got), "Your preferences for this project leave out this application") {
		t.Errorf("got %d tasks, refusals %+v, messages %s", len(got.Results), got.Refusals, texts(got))
	}
	w.update(func(tx *store.Tx) error {
		return errors.Join(store.Change(tx.Host, first.HostID, tx.UpdateHost, func(h *store.Host) { h.Venue = "" }), store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.TeamID = 0 }))
	})
	got = w.as(first.HostID, 3, "01-first-contact-with-work")
	if got.User.TeamID != 0 || *got.Host.Venue != "" || len(got.Results) != 1 {
		t.Errorf("elsewhere: told %+v, %+v, got %d tasks", got.User, got.Host, len(got.Results))
	}
}
