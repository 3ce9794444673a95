package server_test

import (
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/projectprefs"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

// newSite is a project whose pages are asked for over a connection, and a visitor.
func newSite(t *testing.T, settings ...string) (*world, *visitor) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	base := "http://" + srv.Listener.Addr().String() + "/demo/"
	w := newWorld(t, append([]string{`master_url = "` + master + `"`, `master_url = "` + base + `"`}, settings...)...)
	srv.Config.Handler = w.web
	srv.Start()
	t.Cleanup(srv.Close)
	return w, newVisitor(t, base)
}

func (v *visitor) signUp(email string) {
	v.t.Helper()
	name, _, _ := strings.Cut(email, "@")
	v.wants(200, "Your account")(v.do("POST", "signup", url.Values{"email": {email}, "password": {"long enough"}, "name": {name}}))
}

// A project describes itself in Markdown, and its news reaches readers of RSS.
func TestSiteArticles(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	v.wants(200, "<h1>Your computer can help Demo</h1>", "divides a large computation")(v.do("GET", "", nil))
	testwait.Until(t, "the counts, for which the page does not wait long", func() bool {
		_, page := v.do("GET", "", nil)
		return strings.Contains(page, "The first tasks will be published soon.")
	})
	for name, text := range map[string]string{
		"home.md": "We look for **primes**.", "science.md": "# The science\n\n![p](images/p.png)", "images/p.png": "png", "theme.css": ":root { --accent: red }",
		"news/2026-11-20-start.md": "# We have started\n\nHello & *welcome*.",
	} {
		p := filepath.Join(w.dir, "site", name)
		w.must(errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o600)))
	}
	v.wants(200, "<strong>primes</strong>", `read?name=science">The science`, "We have started", "theme.css")(v.do("GET", "", nil))
	v.wants(200, `<img src="images/p.png"`, "<h1>The science</h1>")(v.do("GET", "read?name=science", nil))
	w.must(os.WriteFile(filepath.Join(w.dir, "site", "home.md"), []byte("# How many primes?\n\nNobody knows.\n\n![Primes](images/p.png)\n\n## Why\n\nFor fun."), 0o600))
	v.wants(200, "<h1>How many primes?</h1>", "<p>Nobody knows.</p>", `<img src="images/p.png" alt="Primes">`, "<h2>Why</h2>")(v.do("GET", "", nil))
	w.must(os.Remove(filepath.Join(w.dir, "site", "home.md")))
	v.wants(200, "<h1>Your computer can help Demo</h1>")(v.do("GET", "", nil))
	v.wants(404, "no page of this name")(v.do("GET", "read?name=nothing", nil))
	v.wants(404, "no page of this name", `href="/demo/news"`)(v.do("GET", "wp-login.php", nil))
	v.wants(405)(v.do("PUT", "login", nil))
	v.wants(200, "png")(v.do("GET", "images/p.png", nil))
	v.wants(200, "--accent")(v.do("GET", "theme.css", nil))
	v.wants(404)(v.do("GET", "images/..%2Fhome.md", nil))
	v.wants(200, "Hello &amp; <em>welcome</em>.")(v.do("GET", "news", nil))
	_, text := v.do("GET", "news.xml", nil)
	var feed struct {
		Channel struct {
			Items []struct {
				Title       string `xml:"title"`
				Description string `xml:"description"`
			} `xml:"item"`
		} `xml:"channel"`
	}
	w.must(xml.Unmarshal([]byte(text), &feed))
	if items := feed.Channel.Items; len(items) != 1 || items[0].Title != "We have started" || !strings.Contains(items[0].Description, "<em>welcome</em>") {
		t.Errorf("RSS is %s", text)
	}
	w.setUp()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	reply := c.rpc(1)
	if len(reply.Feeds) != 1 || reply.Feeds[0].URL != v.base+"news.xml" || !strings.Contains(reply.GUIURLs, v.base+"computers") {
		t.Errorf("clients are told of %+v and %s", reply.Feeds, reply.GUIURLs)
	}
}

// To sign up, volunteers agree to the terms, have an invitation and confirm their address, where
// the project requires that. Until then their computers get no work.
func TestSiteSignUp(t *testing.T) {
	t.Parallel()
	w, v := newSite(t, "invitations = []", `invitations = ["MAGPIE"]`, "confirm_email = false", "confirm_email = true")
	w.setUp()
	w.must(errors.Join(os.MkdirAll(filepath.Join(w.dir, "site"), 0o755), os.WriteFile(filepath.Join(w.dir, "site", "terms.md"), []byte("# Terms\n\nBe kind."), 0o600)))
	form := url.Values{"email": {"eve@example.org"}, "password": {"long enough"}, "name": {"Eve"}, "invite": {"MAGPIE"}}
	v.wants(422, "agree to the terms")(v.do("POST", "signup", form))
	form.Set("terms", "on")
	form.Set("invite", "crow")
	v.wants(422, "by invitation")(v.do("POST", "signup", form))
	v.wants(200, "by invitation")(v.do("GET", "create_account.php?email_addr=x@example.org&user_name=X&passwd_hash="+strings.Repeat("0", 32), nil))
	form.Set("invite", " MAGPIE ")
	v.wants(200, "not confirmed yet")(v.do("POST", "signup", form))
	u := w.userByEmail("eve@example.org")
	w.create(workgen.Params{Name: "wu", MinQuorum: 1}, "hello")
	c := &client{w: w, key: u.Authenticator, name: "a"}
	reply := c.rpc(1)
	if len(reply.Results) != 0 || len(reply.Refusals) != 1 || reply.Refusals[0].Code != protocol.RefusedUnconfirmed {
		t.Errorf("an account that is not confirmed: %d tasks, %+v", len(reply.Results), reply.Refusals)
	}
	link := w.mailedLink(v.base + "confirm?token=")
	v.wants(403, "has expired")(v.do("GET", v.base+"confirm?token=1.2.3", nil))
	v.wants(200, "Confirm")(v.do("GET", link, nil)) // as a program does that looks at links in mails
	if work := c.fetch(); len(work.Results) != 0 {
		t.Error("opening the link confirms the address")
	}
	v.wants(200, "is confirmed")(v.do("POST", link, url.Values{}))
	if work := c.fetch(); len(work.Results) != 1 {
		t.Errorf("a confirmed account: %d tasks, %+v", len(work.Results), work.Refusals)
	}
	if w.user("operator@example.org") == "" || w.userByEmail("operator@example.org").ConfirmedTime.IsZero() {
		t.Error("an account that the operator made is not confirmed")
	}
}

// An account's owner changes the name and other personal data, downloads it, and deletes the
// account.
func TestSiteSettings(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	v.signUp("ada@example.org")
	other := newVisitor(t, v.base)
	other.signUp("bob@example.org")
	v.wants(200, "Saved")(v.do("POST", "settings", url.Values{"what": {"profile"}, "name": {"Ada L."}}))
	if u := w.userByEmail("ada@example.org"); u.Name != "Ada L." || !u.HideHosts || !u.NoExport {
		t.Errorf("profile: %+v", u)
	}
	// The address changes when the owner of the new one agrees, and the password continues to work
	// with it.
	change := url.Values{"what": {"email"}, "email": {"bob@"}, "old": {"long enough"}}
	v.wants(200, "Not a valid e-mail address")(v.do("POST", "settings", change))
	change.Set("email", "Lovelace@example.org")
	v.wants(200, "sent an e-mail to the new address")(v.do("POST", "settings", change))
	link := w.mailedLink(v.base + "email?token=")
	other.wants(403, "is another account&#39;s")(other.do("GET", link, nil))
	v.wants(200, "lovelace@example.org")(v.do("GET", link, nil))
	at, err := url.Parse(link)
	w.must(err)
	final := url.Values{"token": {at.Query().Get("token")}, "email": {"lovelace@example.org"}, "old": {"wrong one"}}
	v.wants(200, "The password is wrong")(v.do("POST", "email", final))
	final.Set("old", "long enough")
	v.wants(200, "lovelace@example.org")(v.do("POST", "email", final))
	w.userByEmail("lovelace@example.org")
	fresh := newVisitor(t, v.base)
	fresh.wants(200, "Ada L.")(fresh.do("POST", "login", url.Values{"email": {"lovelace@example.org"}, "password": {"long enough"}}))

	// Data and farewell.
	w.create(workgen.Params{Name: "wu", MinQuorum: 1}, "hello")
	u := w.userByEmail("lovelace@example.org")
	c := &client{w: w, key: u.Authenticator, name: "a"}
	c.fetch()
	w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
		list, err := tx.InProgressOf(c.host)
		if err != nil || len(list) != 1 {
			return fmt.Errorf("tasks %v, %w", list, err)
		}
		r := list[0]
		r.EnergyWh = 1.25
		return tx.SaveResult(list[0], r)
	}))
	_, text := v.do("GET", "account.json", nil)
	var data struct {
		Account   struct{ Email string }
		Computers []struct{ ID int64 }
		Tasks     []struct {
			Name, State string
			EnergyWh    float64
		}
	}
	if err := json.Unmarshal([]byte(text), &data); err != nil || data.Account.Email != "lovelace@example.org" || len(data.Computers) != 1 || len(data.Tasks) != 1 || data.Tasks[0].State != "In progress" || data.Tasks[0].EnergyWh != 1.25 {
		t.Errorf("data %s, %v", text, err)
	}
	v.wants(200, "password is wrong")(v.do("POST", "settings", url.Values{"what": {"delete"}, "old": {"x"}}))
	v.wants(200, "Join")(v.do("POST", "settings", url.Values{"what": {"delete"}, "old": {"long enough"}}))
	v.wants(200, "Log in")(v.do("GET", "account", nil))
	if st := w.status(); st.Results.ByOutcome["client_detached"] != 1 {
		t.Errorf("its task in progress: %+v", st.Results.ByOutcome)
	}
	v.wants(404, "no account of this number")(v.do("GET", fmt.Sprintf("user?id=%d", u.ID), nil))
}

// The settings of a venue are used on the computers there.
func TestSitePreferences(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	v.signUp("ada@example.org")
	save := url.Values{"what": {"project"}, "venue": {"work"}, "resource_share": {"7"}, "max_tasks": {"1"}, "use": {"CPU", "NVIDIA"}}
	v.wants(200, "Preferences saved", "Same as for all")(v.do("POST", "preferences", save))
	u := w.userByEmail("ada@example.org")
	if p := projectprefs.For(u.ProjectPrefs, "work"); p.ResourceShare != 7 || p.MaxTasks != 1 || p.Uses("ATI") || !p.Uses("NVIDIA") || !p.Uses("") {
		t.Errorf("at work %+v in %s", p, u.ProjectPrefs)
	}
	if p := projectprefs.For(u.ProjectPrefs, ""); p.ResourceShare != 100 || len(p.Without) != 0 {
		t.Errorf("elsewhere %+v", p)
	}
	for _, wrong := range []url.Values{{"resource_share": {"-1"}}, {"max_tasks": {"many"}}, {"use": nil}} {
		form := url.Values{"what": {"project"}, "resource_share": {"7"}, "use": {"CPU"}}
		maps.Copy(form, wrong)
		v.wants(200, `role="alert"`)(v.do("POST", "preferences", form))
	}
	// If the project has only one active application, and one that it has stopped, the page offers
	// no choice and does not require one.
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "old", Validator: "trivial", Assimilator: "copy"}, w.now()))
	_, err := operate.StopApp(t.Context(), w.p, "old", true)
	w.must(err)
	if _, text := v.do("GET", "preferences", nil); strings.Contains(text, `name="app"`) {
		t.Errorf("a choice of one: %s", text)
	}
	v.wants(200, "Preferences saved")(v.do("POST", "preferences", url.Values{"what": {"project"}, "resource_share": {"8"}, "use": {"CPU"}}))
	v.wants(404)(v.do("GET", "preferences?venue=moon", nil))
	v.wants(200, "Preferences saved")(v.do("POST", "preferences", url.Values{"what": {"project"}, "venue": {"work"}, "drop": {"1"}}))
	if u = w.userByEmail("ada@example.org"); projectprefs.Has(u.ProjectPrefs, "work") {
		t.Errorf("left of work: %s", u.ProjectPrefs)
	}
}

// Computers are shown with their tasks, to others less than to their owner, and are merged.
func TestSiteComputers(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	v.signUp("ada@example.org")
	u := w.userByEmail("ada@example.org")
	first := &client{w: w, key: u.Authenticator, name: "attic"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 1}, "hello")
	first.compute(first.fetch())
	w.create(workgen.Params{Name: "wu2", MinQuorum: 1}, "hello")
	second := &client{w: w, key: u.Authenticator, name: "cellar"}
	second.fetch()
	page := fmt.Sprintf("computer?id=%d", first.host)
	v.wants(200, "attic", "cellar")(v.do("GET", "computers", nil))
	v.wants(200, "attic", "wu_0", "Valid")(v.do("GET", page, nil))
	v.wants(200, "In progress")(v.do("GET", fmt.Sprintf("computer?id=%d", second.host), nil))
	v.wants(200, "wu_0", "Valid")(v.do("GET", "task?id=1", nil))

	stranger := newVisitor(t, v.base)
	if _, text := stranger.do("GET", page, nil); strings.Contains(text, "attic") || !strings.Contains(text, ">ada<") {
		t.Errorf("a stranger sees %s", text)
	}
	stranger.wants(200, "Computers of ada")(stranger.do("GET", fmt.Sprintf("computers?userid=%d", u.ID), nil))
	stranger.wants(404)(stranger.do("GET", "computer?id=99", nil))

	set := url.Values{"what": {"own"}, "id": {fmt.Sprint(first.host)}, "label": {"Attic <1>"}, "venue": {"home"}, "hidden": {"on"}}
	stranger.do("POST", "computer", set)
	v.wants(200, "Attic &lt;1&gt;")(v.do("POST", "computer", set))
	v.wants(200, "hidden computers, too (1)")(v.do("GET", "computers", nil))
	if r := first.rpc(0); r.Host.Venue == nil || *r.Host.Venue != "home" {
		t.Errorf("the computer is told of venue %v", r.Host.Venue)
	}

	// The results of a computer that is merged move to the other one. A computer with tasks in
	// progress is not merged.
	merge := url.Values{"what": {"merge"}, "id": {fmt.Sprint(second.host)}, "into": {fmt.Sprint(first.host)}}
	v.wants(200, "still has tasks in progress")(v.do("POST", "computer", merge))
	merge.Set("id", fmt.Sprint(first.host))
	merge.Set("into", fmt.Sprint(second.host))
	v.wants(200, "cellar", "wu_0")(v.do("POST", "computer", merge))
	v.wants(404)(v.do("GET", page, nil))
	if r := first.rpc(0); r.HostID != 0 && r.HostID != second.host {
		t.Errorf("the merged computer is told that it is %d", r.HostID)
	}
}

// Volunteers found, join, lead and leave teams. Leaderboards rank them by credit.
func TestSiteTeams(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	v.signUp("ada@example.org")
	v.wants(200, "ada", "Leave the team", "leader")(v.do("POST", "teams", url.Values{"name": {"The Starlings"}}))
	u := w.userByEmail("ada@example.org")
	c := &client{w: w, key: u.Authenticator, name: "a"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 1, RscFpopsEst: 4.32e13}, "hello")
	c.compute(c.fetch())
	if r := c.rpc(0); r.User.TeamName != "The Starlings" || r.User.TeamID != 1 {
		t.Errorf("the client is told of team %q, %d", r.User.TeamName, r.User.TeamID)
	}
	v.wants(200, "ada", "100.00")(v.do("GET", "leaders", nil))
	v.wants(200, "The Starlings", "100.00")(v.do("GET", "leaders?of=teams&by=recent", nil))
	v.wants(200, "computer?id=")(v.do("GET", "leaders?of=computers", nil))

	v.wants(200, "a team of this name already")(v.do("POST", "teams", url.Values{"name": {"the starlings"}}))
	bob := newVisitor(t, v.base)
	bob.signUp("bob@example.org")
	bob.wants(200, "Done", "bob")(bob.do("POST", "team", url.Values{"what": {"join"}, "id": {"1"}}))
	bob.wants(200, "Only the team&#39;s leader")(bob.do("POST", "team", url.Values{"what": {"edit"}, "id": {"1"}, "description": {"mine"}}))
	v.wants(200, "must be an https")(v.do("POST", "team", url.Values{"what": {"edit"}, "id": {"1"}, "url": {"javascript:alert(1)"}}))
	v.wants(200, "<strong>fly</strong>", `href="https://example.org/`)(v.do("POST", "team", url.Values{"what": {"edit"}, "id": {"1"}, "url": {"https://example.org/"}, "description": {"We **fly**. <script>"}}))
	v.wants(200, "The Starlings")(v.do("GET", "team?name=THE+starlings", nil))

	// When the leader leaves, the team gets another leader. When the last member leaves, the team
	// is deleted.
	v.do("POST", "team", url.Values{"what": {"leave"}, "id": {"1"}})
	bob.wants(200, "bob (leader)</a>")(bob.do("GET", "team?id=1", nil))
	bob.wants(200)(bob.do("POST", "team", url.Values{"what": {"leave"}, "id": {"1"}}))
	bob.wants(404)(bob.do("GET", "team?id=1", nil))
}

// A volunteer with enough credit has a badge on each page that shows the credit. Statistics sites
// get the badge with the address of an existing picture.
func TestSiteBadges(t *testing.T) {
	t.Parallel()
	w, v := newSite(t, lowBadges...)
	w.setUp()
	v.signUp("ada@example.org")
	v.do("POST", "teams", url.Values{"name": {"The Starlings"}})
	u := w.userByEmail("ada@example.org")
	const badge = `aria-label="Credit of 50 or more"`
	if _, page := v.do("GET", "account", nil); strings.Contains(page, badge) {
		t.Error("a badge for nothing")
	}
	c := &client{w: w, key: u.Authenticator, name: "a"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 1, RscFpopsEst: 4.32e13}, "hello") // 100 of credit
	c.compute(c.fetch())
	for _, page := range []string{"account", fmt.Sprintf("user?id=%d", u.ID), "team?id=1", "teams", "leaders", "leaders?of=teams"} {
		v.wants(200, badge)(v.do("GET", page, nil))
	}
	if _, page := v.do("GET", "leaders?of=computers", nil); strings.Contains(page, badge) {
		t.Error("a computer has a badge")
	}
	v.wants(200, "<id>50</id>", "<image_url>"+v.base+"badges/credit_50.svg</image_url>")(v.do("GET", "stats/tables.xml", nil))
	v.wants(200, badge)(v.do("GET", "badges/credit_50.svg", nil))
	v.wants(404)(v.do("GET", "badges/credit_51.svg", nil))
}

// lowBadges are settings with a badge that a test can earn.
var lowBadges = []string{"badges = [10000, 100000, 1000000, 10000000, 100000000, 1000000000]", "badges = [1, 50, 1000]"}

// Statistics sites and account managers get the same data as from BOINC's projects.
func TestSiteForMachines(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	v.signUp("ada@example.org")
	u := w.userByEmail("ada@example.org")
	c := &client{w: w, key: u.Authenticator, name: "attic"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 1, RscFpopsEst: 4.32e13}, "hello")
	c.compute(c.fetch())
	key := string(u.Authenticator)
	cpid := protocol.ExternalCPID(u.CrossProjectID, u.EmailAddr)
	v.wants(200, "<am_get_info_reply>", "<success/>", "<name>ada</name>", "<cpid>"+cpid+"</cpid>", "<weak_auth>", "<project_prefs>")(v.do("GET", "am_get_info.php?account_key="+key, nil))
	v.wants(200, "<error_num>-136</error_num>")(v.do("GET", "am_get_info.php?account_key="+strings.Repeat("0", 32), nil))
	v.wants(200, "<success/>")(v.do("GET", fmt.Sprintf("am_set_host_info.php?account_key=%s&hostid=%d&venue=work", key, c.host), nil))
	v.wants(200, "<error_num>")(v.do("GET", fmt.Sprintf("am_set_host_info.php?account_key=%s&hostid=%d&venue=work", key, c.host+1), nil))
	if h := storetest.Get(t, w.p.Store, (*store.View).Host, c.host); h.Venue != "work" {
		t.Errorf("venue %q", h.Venue)
	}
	v.wants(200, "<domain_name>attic</domain_name>", "<total_credit>100.000000")(v.do("GET", "show_user.php?format=xml&auth="+key, nil))
	if _, text := v.do("GET", fmt.Sprintf("show_user.php?format=xml&userid=%d", u.ID), nil); strings.Contains(text, "attic") || !strings.Contains(text, "<name>ada</name>") {
		t.Errorf("everybody is told %s", text)
	}
	v.wants(200, "<nusers_total>1</nusers_total>")(v.do("GET", "stats/tables.xml", nil))
	for _, name := range []string{"user.gz", "user.xml.gz", "host.gz"} {
		res, err := v.c.Get(v.base + "stats/" + name)
		w.must(err)
		z, err := gzip.NewReader(res.Body)
		w.must(err)
		text, err := io.ReadAll(z)
		w.must(errors.Join(err, res.Body.Close()))
		if !strings.Contains(string(text), "<total_credit>100.000000") || strings.Contains(string(text), "attic") || strings.Contains(string(text), "ada@") {
			t.Errorf("%s: %s", name, text)
		}
	}
	v.wants(200, "<command>transitioner</command>", "<tasks_by_app>", "<in_progress>0</in_progress>", "<users_with_credit>1</users_with_credit>")(v.do("GET", "server_status.php?xml=1", nil))
	w.must(errors.Join(os.MkdirAll(filepath.Join(w.dir, "site"), 0o755), os.WriteFile(filepath.Join(w.dir, "site", "terms.md"), []byte("Be kind."), 0o600)))
	v.wants(200, "<terms_of_use>", "Be kind.")(v.do("GET", "get_project_config.php", nil))
	v.wants(404)(v.do("GET", "stats/passwd.gz", nil))
	v.wants(404)(v.do("GET", "stats/..%2fserver.toml", nil))
}
