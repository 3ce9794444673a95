package server_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// refused fails the test unless a computer gets no work and its volunteer gets the reason.
func (c *client) refused(why string) {
	c.w.t.Helper()
	reply := c.rpc(1)
	told := ""
	for _, m := range reply.Messages {
		if m.Priority == protocol.PriorityNotice {
			told += m.Text
		}
	}
	if len(reply.Results) != 0 || len(reply.Refusals) != 1 || reply.Refusals[0].Code != protocol.RefusedExcluded || !strings.Contains(told, why) {
		c.w.t.Errorf("%d results, refused for %+v, told %q; want %q", len(reply.Results), reply.Refusals, told, why)
	}
}

// lookup asks for the key of an account by its password.
func (w *world) lookup(email, password string) string {
	w.t.Helper()
	_, body := w.get("lookup_account.php?" + url.Values{
		"email_addr": {email}, "passwd_hash": {protocol.PasswordHash(password, email)},
	}.Encode())
	return body
}

// A banned account gets no work, cannot add a computer and cannot log in, and each refusal has the
// reason. Results that its computer has finished are accepted.
func TestAnAccountIsBanned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", TargetNResults: 3}, "hello")
	key := w.user("a@example.org")
	a := &client{w: w, key: key, name: "a"}
	work := a.fetch()
	w.must(operate.SetPassword(t.Context(), w.p, "a@example.org", "another password"))
	if err := operate.SetPassword(t.Context(), w.p, "a@example.org", "x"); err == nil {
		t.Error("a short password was taken")
	}
	if got := w.lookup("a@example.org", "another password"); !strings.Contains(got, string(key)) {
		t.Errorf("the new password: %s", got)
	}
	ban := func(ban bool, reason string) {
		_, err := operate.Ban(t.Context(), w.p, " A@example.org", ban, reason, w.now())
		w.must(err)
	}
	ban(true, "tampered\nresults")
	a.refused("The project has banned your account: it gets no tasks. The reason: tampered results")
	(&client{w: w, key: key, name: "second"}).refused("banned your account")
	if st := w.status(); st.Hosts != 1 {
		t.Errorf("%d hosts, want 1", st.Hosts)
	}
	if got := w.lookup("a@example.org", "another password"); !strings.Contains(got, "banned this account: tampered results") || strings.Contains(got, string(key)) {
		t.Errorf("the key of a banned account: %s", got)
	}
	if got := w.lookup("a@example.org", "a wrong one"); strings.Contains(got, "banned") {
		t.Errorf("a stranger is told: %s", got)
	}
	a.compute(work)
	w.step()
	if st := w.status(); st.Workunits.Canonical != 1 || st.Credit == 0 {
		t.Errorf("its result: %+v, credit %v", st.Workunits, st.Credit)
	}
	w.create(workgen.Params{Name: "next"}, "hello")
	ban(false, "")
	w.must(operate.ExcludeHosts(t.Context(), w.p, []int64{a.host}, true))
	a.refused("the project has excluded it")
	w.must(operate.ExcludeHosts(t.Context(), w.p, []int64{a.host}, false))
	if reply := a.fetch(); len(reply.Results) != 1 {
		t.Errorf("no longer banned: %v", reply.Messages)
	}
	if err := operate.ExcludeHosts(t.Context(), w.p, []int64{a.host, 99}, true); err == nil {
		t.Error("a host that is not there was banned")
	}
}

// No personal data of a deleted account is left. Its work goes to others, its credit counts, and
// its address is free.
func TestAnAccountIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "done"}, "hello")
	key := w.user("a@example.org")
	a := &client{w: w, key: key, name: "secret.example.org"}
	a.compute(a.fetch())
	w.create(workgen.Params{Name: "wu"}, "hello")
	a.fetch()
	before := w.status().Credit
	n, err := operate.Delete(t.Context(), w.p, "a@example.org", w.now())
	if err != nil || n != 1 {
		t.Errorf("%d results given up, %v; want 1", n, err)
	}
	if _, err := operate.Delete(t.Context(), w.p, "1", w.now()); err == nil {
		t.Error("deleted twice")
	}
	if _, err := operate.Ban(t.Context(), w.p, "1", true, "", w.now()); err == nil {
		t.Error("banned after it was deleted")
	}
	w.step()
	if st := w.status(); st.Credit != before || before == 0 || st.Results.ByOutcome["client_detached"] != 1 {
		t.Errorf("credit %v, was %v; %+v", st.Credit, before, st.Results)
	}
	w.must(w.p.Store.View(t.Context(), func(tx *store.View) error {
		wrong, err := tx.Doctor()
		if len(wrong) != 0 {
			t.Errorf("doctor says %v", wrong)
		}
		if err != nil {
			return err
		}
		u, err := tx.User(1)
		if u.EmailAddr != "deleted-1" || u.Authenticator == key || u.PasswdHash != "" || u.ProjectPrefs != "" || u.DeletedTime.IsZero() {
			t.Errorf("left: %+v", u)
		}
		if err != nil {
			return err
		}
		hosts, err := tx.HostsOfUser(1, 9)
		for _, h := range hosts {
			if h.DomainName+h.LastIPAddr+h.ExternalIPAddr+h.HostCPID != "" || h.MaxResultsDay >= 0 {
				t.Errorf("left: %+v", h)
			}
		}
		return err
	}))
	reply := a.rpc(1)
	if len(reply.Results) != 0 || !slices.ContainsFunc(reply.Messages, func(m protocol.Message) bool { return strings.Contains(m.Text, "account key") }) {
		t.Errorf("its computer reads %v", reply.Messages)
	}
	b := &client{w: w, key: w.user("a@example.org"), name: "b"}
	b.compute(b.fetch())
	w.step()
	if st := w.status(); st.Workunits.Canonical != 2 {
		t.Errorf("got %+v", st.Workunits)
	}
}
