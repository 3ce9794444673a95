package web_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// A member is a volunteer who is logged in.
type member struct {
	store.User
	cookie string // of the visit in which the member sends forms
	later  *visits
	host   int64
}

// visits has the cookies of the visits that began later.
type visits struct {
	mu      sync.Mutex
	cookies []string
}

func (v *visits) add(cookie string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cookies = append(v.cookies, cookie)
}

// members are two volunteers, of whom the first leads a team to which both belong, and a team of others.
type members struct {
	*site
	t           *testing.T
	n           string // makes names unique
	a, b        member
	stranger    int64
	own, others int64 // teams
}

func (s *site) members(t *testing.T, n string) *members {
	t.Helper()
	m := &members{site: s, t: t, n: n}
	m.a, m.b = m.member("a"), m.member("b")
	stranger := m.member("c")
	m.stranger = stranger.ID
	m.must(s.Store.Update(t.Context(), func(tx *store.Tx) (err error) {
		for _, team := range []struct {
			id      *int64
			name    string
			members []member
		}{{&m.own, "own" + n, []member{m.a, m.b}}, {&m.others, "others" + n, []member{stranger}}} {
			if *team.id, err = tx.InsertTeam(store.Team{CreateTime: time.Now(), UserID: team.members[0].ID, Name: team.name}); err != nil {
				return err
			}
			for _, u := range team.members {
				if err := store.Change(tx.User, u.ID, tx.SaveUser, func(u *store.User) { u.TeamID = *team.id }); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return m
}

func (m *members) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *members) email(name string) string { return name + m.n + "@example.org" }

// member makes an account whose password, "password", is checked quickly.
func (m *members) member(name string) (u member) {
	m.t.Helper()
	u.EmailAddr, u.Name, u.CreateTime = m.email(name), name+m.n, time.Now()
	u.Authenticator, u.CrossProjectID = protocol.Authenticator(sum("key", u.Name)[:32]), sum("cpid", u.Name)[:32]
	hash, err := bcrypt.GenerateFromPassword([]byte(protocol.PasswordHash("password", u.EmailAddr)), bcrypt.MinCost)
	m.must(err)
	u.PasswdHash, u.cookie, u.later = string(hash), "visit"+u.Name, new(visits)
	m.must(m.Store.Update(m.t.Context(), func(tx *store.Tx) error {
		if u.ID, err = tx.InsertUser(u.User); err != nil {
			return err
		}
		if u.host, err = tx.InsertHost(store.Host{UserID: u.ID, CreateTime: time.Now(), HostCPID: sum("host", u.Name)[:32]}); err != nil {
			return err
		}
		return tx.AddSession(sum(u.cookie), u.ID, time.Now(), time.Now().Add(time.Hour))
	}))
	return u
}

func sum(texts ...string) string {
	s := sha256.Sum256([]byte(strings.Join(texts, " ")))
	return hex.EncodeToString(s[:])
}

// post sends a form as a member. It returns the status and the message on the page.
func (m *members) post(as *member, path string, form url.Values) string {
	r := httptest.NewRequestWithContext(m.t.Context(), http.MethodPost, master+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: "starling_session", Value: as.cookie})
	rec := httptest.NewRecorder()
	m.public.ServeHTTP(rec, r)
	for _, c := range cookiesOf(rec) {
		if c.Value != "" {
			as.later.add(c.Value)
		}
	}
	said := regexp.MustCompile(`class="(?:said|bad)" role[^>]*>([^<]*)`).FindString(rec.Body.String())
	return fmt.Sprint(rec.Code, " ", rec.Header().Get("Location"), " ", said)
}

// get sends a call as clients and account managers do.
func (m *members) get(path string) string {
	r := httptest.NewRequestWithContext(m.t.Context(), http.MethodGet, master+path, nil)
	rec := httptest.NewRecorder()
	m.public.ServeHTTP(rec, r)
	return fmt.Sprint(rec.Code, " ", regexp.MustCompile(`<error_msg>[^<]*|<success/>`).FindString(rec.Body.String()))
}

// state describes the accounts and teams.
func (m *members) state() string {
	m.t.Helper()
	names := map[int64]string{0: "nobody", m.a.ID: "a", m.b.ID: "b", m.stranger: "stranger"}
	teams := map[int64]string{0: "none", m.own: "own", m.others: "others"}
	team := func(id int64) string { return cmp.Or(teams[id], "founded") }
	var b strings.Builder
	m.must(m.Store.View(m.t.Context(), func(tx *store.View) error {
		for _, was := range []member{m.a, m.b} {
			u, err := tx.User(was.ID)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s: %s %s team %s hidden %v deleted %v banned %v key replaced %v prefs %q", was.Name, u.EmailAddr, u.Name, team(u.TeamID),
				u.HideHosts, !u.DeletedTime.IsZero(), !u.BannedTime.IsZero(), u.Authenticator != was.Authenticator, u.GlobalPrefs)
			if u.PasswdHash != was.PasswdHash && u.DeletedTime.IsZero() {
				for _, password := range []string{"password", "another one", "a third one"} {
					if bcrypt.CompareHashAndPassword([]byte(u.PasswdHash), []byte(protocol.PasswordHash(password, u.EmailAddr))) == nil {
						fmt.Fprintf(&b, " password %s", password)
					}
				}
			}
			visits, all := make(map[int64]int), append(was.later.cookies, was.cookie)
			for _, c := range all {
				of, err := tx.UserOfSession(sum(c), time.Now())
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					return err
				}
				visits[of.ID]++
			}
			fmt.Fprintf(&b, " visits %d of %d", visits[was.ID], len(all))
			h, err := tx.Host(was.host)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " computer %q venue %q hidden %v\n", h.Label, h.Venue, h.Hidden)
		}
		for _, id := range []int64{m.own, m.others} {
			t, err := tx.Team(id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			list, err := tx.Members(id, 10)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "team %s: leader %s about %q members", team(t.ID), names[t.UserID], t.Description)
			for _, u := range list {
				fmt.Fprintf(&b, " %s", names[u.ID])
			}
			b.WriteString("\n")
		}
		founded, err := tx.TeamByName("founded" + m.n)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		fmt.Fprintf(&b, "founded by %s\n", names[founded.UserID])
		return err
	}))
	return b.String()
}

// What volunteers change on the pages, account managers by their calls and operators by commands, two at once.
func TestMembersRequestsAtOnce(t *testing.T) {
	onBoth(t, membersRequestsAtOnce)
}

func membersRequestsAtOnce(t *testing.T, database string) {
	s := newSiteWith(t, database, func(c *project.Config) {
		c.MaxWrongPasswords, c.MaxRequestsPerAddress, c.MaxAccountsPerAddressDay = 0, 0, 0
	})
	type requests = []struct {
		name string
		send func(m *members) string
	}
	a := func(path string, form ...string) func(*members) string {
		return func(m *members) string { return m.post(&m.a, path, m.form(form)) }
	}
	b := func(path string, form ...string) func(*members) string {
		return func(m *members) string { return m.post(&m.b, path, m.form(form)) }
	}
	list := requests{
		{"change the password", a("settings", "what", "password", "old", "password", "password", "another one")},
		{"change the password otherwise", a("settings", "what", "password", "old", "password", "password", "a third one")},
		{"replace the key", a("settings", "what", "key", "old", "password")},
		{"change the address", a("settings", "what", "email", "old", "password", "email", "EMAIL:new")},
		{"another changes to that address", b("settings", "what", "email", "old", "password", "email", "EMAIL:new")},
		{"delete the account", a("settings", "what", "delete", "old", "password")},
		{"change the name", a("settings", "what", "profile", "name", "Ada")},
		{"log in", func(m *members) string {
			visitor := member{cookie: "none", later: m.a.later}
			return m.post(&visitor, "login", url.Values{"email": {m.a.EmailAddr}, "password": {"password"}})
		}},
		{"log out", a("logout")},
		{"found a team", a("teams", "name", "NAME:founded")},
		{"another founds that team", b("teams", "name", "NAME:founded")},
		{"leave the team", a("team", "id", "OWN", "what", "leave")},
		{"join others", a("team", "id", "OTHERS", "what", "join")},
		{"hand the team on", a("team", "id", "OWN", "what", "edit", "description", "text", "leader", "B")},
		{"another leaves the team", b("team", "id", "OWN", "what", "leave")},
		{"another deletes the account", b("settings", "what", "delete", "old", "password")},
		{"name the computer", a("computer", "id", "HOST", "what", "own", "label", "desk", "venue", "home")},
		{"set its venue by key", func(m *members) string {
			return m.get(fmt.Sprintf("am_set_host_info.php?account_key=%s&hostid=%d&venue=work", m.a.Authenticator, m.a.host))
		}},
		{"ban the account", func(m *members) string {
			_, err := operate.Ban(m.t.Context(), m.Project, fmt.Sprint(m.a.ID), true, "spam", time.Now())
			return fmt.Sprint(err)
		}},
	}
	var names []string
	for _, x := range list {
		names = append(names, x.name)
	}
	made := 0
	pairsAtOnce(t, names, 4, 3, func() round {
		made++
		m := s.members(t, fmt.Sprintf("m%dx", made))
		plain := func(text string) string { // names and numbers differ from one round to the next
			return regexp.MustCompile(`\b(id=|deleted-|account )\d+`).ReplaceAllString(strings.ReplaceAll(text, m.n, ""), "$1")
		}
		return round{
			send: func(i int) string {
				answer := plain(list[i].send(m))
				if strings.HasSuffix(strings.TrimSpace(answer), "/login") || strings.Contains(answer, "has banned this account") || strings.Contains(answer, "password is wrong") {
					return "refused" // it depends on the moment which of the reasons is seen first
				}
				return answer
			},
			state: func() string { return plain(m.state()) },
		}
	})
}

// form fills in the names and numbers of this round.
func (m *members) form(pairs []string) url.Values {
	form := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i+1]
		if name, ok := strings.CutPrefix(v, "EMAIL:"); ok {
			v = m.email(name)
		}
		if name, ok := strings.CutPrefix(v, "NAME:"); ok {
			v = name + m.n
		}
		switch v {
		case "OWN":
			v = fmt.Sprint(m.own)
		case "OTHERS":
			v = fmt.Sprint(m.others)
		case "B":
			v = fmt.Sprint(m.b.ID)
		case "HOST":
			v = fmt.Sprint(m.a.host)
		}
		form.Set(pairs[i], v)
	}
	return form
}
