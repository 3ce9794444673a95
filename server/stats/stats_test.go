package stats

import (
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

var t0 = time.Unix(1_800_000_000, 0).UTC()

// content is a file's text, which must be XML.
func content(t *testing.T, dir, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(b)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return string(b)
		} else if err != nil {
			t.Fatalf("%s: %v in %s", name, err, b)
		}
	}
}

// Accounts, teams and computers with credit are listed, except the data that their owners keep
// private.
func TestWrite(t *testing.T) {
	s := storetest.Open(t, "")
	dir := filepath.Join(t.TempDir(), "stats")
	storetest.Update(t, s, func(tx *store.Tx) error {
		team, err := tx.InsertTeam(store.Team{CreateTime: t0, UserID: 1, Name: "A & B", Description: "We <fly>."})
		if err != nil {
			return err
		}
		for i, name := range []string{"Ada <1>\x01\xff", "silent", "hiding", "idle", "gone"} {
			u := store.User{CreateTime: t0, Name: name, EmailAddr: name + "@example.org", CrossProjectID: name, Authenticator: protocol.Authenticator(strings.Repeat(string(rune('a'+i)), 32))}
			if u.ID, err = tx.InsertUser(u); err != nil {
				return err
			}
			h := store.Host{CreateTime: t0, UserID: u.ID, HostCPID: "cpid of " + name}
			if h.ID, err = tx.InsertHost(h); err != nil {
				return err
			}
			if name == "idle" {
				continue
			}
			if err := errors.Join(tx.AddUserCredit(u.ID, 10, 1, t0), tx.AddHostCredit(h.ID, 10, 1, t0, 3600)); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.AddTeamCredit(team, 10),
			store.Change(tx.User, 1, tx.SaveUser, func(u *store.User) { u.TeamID = team }),
			store.Change(tx.User, 2, tx.SaveUser, func(u *store.User) { u.NoExport = true }),
			store.Change(tx.User, 3, tx.SaveUser, func(u *store.User) { u.HideHosts = true }),
			store.Change(tx.User, 5, tx.EraseUser, func(u *store.User) {
				*u = store.User{ID: 5, EmailAddr: "deleted-5", Name: "Deleted account", Authenticator: protocol.Authenticator(strings.Repeat("f", 32)), CrossProjectID: "z", DeletedTime: t0, HideHosts: true, NoExport: true}
			}),
			tx.Forget(store.Forgotten{Kind: store.ForgottenUser, ID: 5, CPID: "old", CreateTime: t0}),
			tx.Forget(store.Forgotten{Kind: store.ForgottenHost, ID: 9, CPID: "ancient", CreateTime: t0.Add(-100 * 24 * time.Hour)}),
		)
	})
	for range 2 { // the second replaces the first
		if err := Write(t.Context(), s, dir, Badges{badge.Ladder{5, 100}, "https://project.example/badges/"}, t0); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		file       string
		has, lacks []string
	}{
		{
			"user.gz",
			[]string{"<users>", "<name>Ada &lt;1&gt;", "<name>hiding</name>", "<cpid>" + protocol.ExternalCPID("hiding", "hiding@example.org") + "</cpid>", "<teamid>1</teamid>", "<total_credit>10.000000</total_credit>"},
			[]string{"silent", "idle", "Deleted", "@"},
		},
		{"team.gz", []string{"<teams>", "<name>A &amp; B</name>", "<founder_name>Ada &lt;1&gt;", "We &lt;fly&gt;.", "<expavg_credit>1.000000</expavg_credit>\n<expavg_time>1800000000.000000</expavg_time>"}, nil},
		{"badge_user.gz", []string{"<badge_users>\n<badge_user>\n<user_id>1</user_id>\n<badge_id>5</badge_id>\n<create_time>0</create_time>\n</badge_user>\n", "<user_id>3</user_id>"}, []string{"<user_id>2<", "<user_id>4<", "<user_id>5<"}},
		{"badge_team.gz", []string{"<badge_teams>\n<badge_team>\n<team_id>1</team_id>\n<badge_id>5</badge_id>\n"}, nil},
		{"host.gz", []string{"<hosts>", "<userid>1</userid>", "<host_cpid>cpid of hiding</host_cpid>"}, []string{"silent", "idle", "gone", "<userid>3</userid>"}},
		{"user_deleted.gz", []string{"<users_deleted>", "<id>5</id>", "<cpid>old</cpid>"}, nil},
		{"host_deleted.gz", []string{"<hosts_deleted>"}, []string{"ancient"}},
		{"tables.xml", []string{"<update_time>1800000000</update_time>", "<nusers_total>3</nusers_total>", "<nhosts_total>4</nhosts_total>", "<nteams_total>1</nteams_total>", "<nusers_deleted_total>1</nusers_deleted_total>", "<total_credit>30.000000</total_credit>\n<applications>\n</applications>\n<badges>\n<badge>\n<id>5</id>\n<name>credit_5</name>\n<title>Credit of 5 or more</title>\n<image_url>https://project.example/badges/credit_5.svg</image_url>\n</badge>\n"}, nil},
	} {
		text := content(t, dir, tt.file)
		for _, want := range tt.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s: %s", tt.file, want, text)
			}
		}
		for _, not := range tt.lacks {
			if strings.Contains(text, not) {
				t.Errorf("%s tells %s: %s", tt.file, not, text)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
