package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/console"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// A desk is a project as the operator's pages show it: a batch of two workunits, of which the second is
// cancelled, a volunteer with a computer, an application with a version, and a token.
type desk struct {
	*site
	t                          *testing.T
	cookies                    []*http.Cookie
	app, token                 string
	batch, host, user, version int64
	waiting, cancelled         int64
}

func (s *site) desk(t *testing.T, program string, n int) *desk {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	d := &desk{site: s, t: t, app: fmt.Sprint("app", n), token: fmt.Sprint("token", n), batch: int64(n)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(operate.AddApp(ctx, s.Project, operate.NewApp{Name: d.app, Validator: "bitwise", Assimilator: "copy"}, now))
	must(operate.AddVersion(ctx, s.Project, operate.NewVersion{App: d.app, Number: "1.00", Platform: "x86_64-pc-linux-gnu", Main: program}, now))
	var app store.App
	must(s.Store.View(ctx, func(tx *store.View) (err error) {
		app, err = tx.AppByName(d.app)
		return err
	}))
	g, err := workgen.New(s.Store, s.Download, s.Dir, app, now)
	must(err)
	names := []string{fmt.Sprint("waiting", n), fmt.Sprint("cancelled", n)}
	var specs []workgen.Spec
	for _, name := range names {
		specs = append(specs, workgen.Spec{Params: workgen.Params{Name: name, Batch: d.batch}})
	}
	_, err = g.Create(ctx, specs, now)
	must(err)
	must(s.Store.Update(ctx, func(tx *store.Tx) (err error) {
		u := store.User{CreateTime: now, EmailAddr: fmt.Sprintf("v%d@example.org", n), Name: "v", Authenticator: protocol.Authenticator(sum("v", d.app)[:32])}
		if d.user, err = tx.InsertUser(u); err != nil {
			return err
		}
		if d.host, err = tx.InsertHost(store.Host{UserID: d.user, CreateTime: now, HostCPID: sum("h", d.app)[:32]}); err != nil {
			return err
		}
		if _, err = tx.InsertToken(store.Token{CreateTime: now, Name: d.token, Hash: d.token}); err != nil {
			return err
		}
		for i, to := range []*int64{&d.waiting, &d.cancelled} {
			wu, err := tx.WorkunitByName(names[i])
			if err != nil {
				return err
			}
			*to = wu.ID
		}
		list, err := tx.AllAppVersions()
		for _, v := range list {
			if v.AppID == app.ID {
				d.version = v.ID
			}
		}
		return err
	}))
	_, err = operate.CancelWork(ctx, s.Project, operate.CancelSpec{IDs: []int64{d.cancelled}}, now)
	must(err)
	_, link, _ := strings.Cut(console.Enter(s.Project, "grace", now), "?")
	d.cookies = cookiesOf(d.post("enter", link))
	return d
}

func cookiesOf(rec *httptest.ResponseRecorder) []*http.Cookie {
	res := rec.Result()
	defer res.Body.Close()
	return res.Cookies()
}

// post sends a form to the operator's pages.
func (d *desk) post(path, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://127.0.0.1:8081/"+path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range d.cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	d.private.ServeHTTP(rec, r)
	return rec
}

// outcome returns the message about an action on the next page.
func (d *desk) outcome(res *httptest.ResponseRecorder) string {
	plain := func(pattern, text string) string { // names and passwords differ from one round to the next
		return regexp.MustCompile(`(?i)\b(app|v|token|deleted-|account )\d+|password is \w+`).ReplaceAllString(regexp.MustCompile(pattern).FindString(text), "$1")
	}
	at := res.Header().Get("Location")
	if at == "" {
		return plain(`role="alert"[^>]*>[^<]*`, res.Body.String())
	}
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://127.0.0.1:8081"+at, nil)
	for _, c := range d.cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	d.private.ServeHTTP(rec, r)
	return plain(`role="status"[^>]*>[^<]*`, rec.Body.String())
}

// state describes everything that the actions change.
func (d *desk) state() string {
	d.t.Helper()
	var b strings.Builder
	err := d.Store.View(d.t.Context(), func(tx *store.View) error {
		for _, id := range []int64{d.waiting, d.cancelled} {
			wu, err := tx.Workunit(id)
			if err != nil {
				return err
			}
			list, err := tx.ResultsOf(id)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "workunit: errors %d priority %d results %d due %v\n", wu.ErrorMask, wu.Priority, len(list), !wu.TransitionTime.IsZero())
		}
		h, err := tx.Host(d.host)
		if err != nil {
			return err
		}
		u, err := tx.User(d.user)
		if err != nil {
			return err
		}
		app, err := tx.AppByName(d.app)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "computer: %d a day, account: banned %v for %q deleted %v password %v, application stopped %v\n",
			h.MaxResultsDay, !u.BannedTime.IsZero(), u.BanReason, !u.DeletedTime.IsZero(), u.PasswdHash != "", app.Deprecated)
		versions, err := tx.AllAppVersions()
		for _, v := range versions {
			if v.ID == d.version {
				fmt.Fprintf(&b, "version: withdrawn %v files %v\n", v.Deprecated, v.XMLDoc != "")
			}
		}
		tokens, errTokens := tx.Tokens()
		for _, token := range tokens {
			if token.Name == d.token {
				fmt.Fprintf(&b, "token: revoked %v\n", !token.RevokedTime.IsZero())
			}
		}
		return errors.Join(err, errTokens)
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return b.String()
}

// Two actions of operators at once. Those on a batch are transactions of its workunits, one after the other, so
// that only one of a kind is here.
func TestOperatorsActionsAtOnce(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	onBoth(t, func(t *testing.T, database string) {
		s := newSiteWith(t, database, func(*project.Config) {})
		var names []string
		actions := []struct {
			path string
			id   func(d *desk) any
			form string
		}{
			{"work-cancel", func(d *desk) any { return d.waiting }, ""},
			{"work-undo", func(d *desk) any { return d.cancelled }, ""},
			{"work-cancel", func(d *desk) any { return d.cancelled }, ""},
			{"batch-cancel", func(d *desk) any { return d.batch }, "yes=on"},
			{"work-set", func(d *desk) any { return d.waiting }, "priority=7"},
			{"batch-set", func(d *desk) any { return d.batch }, "priority=9"},
			{"work-retry", func(d *desk) any { return d.cancelled }, ""},
			{"host-ban", func(d *desk) any { return d.host }, ""},
			{"host-unban", func(d *desk) any { return d.host }, ""},
			{"user-ban", func(d *desk) any { return d.user }, "reason=spam"},
			{"user-unban", func(d *desk) any { return d.user }, ""},
			{"user-passwd", func(d *desk) any { return d.user }, ""},
			{"user-delete", func(d *desk) any { return d.user }, "yes=on"},
			{"apps-stop", func(d *desk) any { return d.app }, ""},
			{"apps-start", func(d *desk) any { return d.app }, ""},
			{"versions-deprecate", func(d *desk) any { return d.version }, ""},
			{"versions-remove", func(d *desk) any { return d.version }, ""},
			{"tokens-revoke", func(d *desk) any { return d.token }, ""},
			{"tokens-set", func(d *desk) any { return d.token }, "max-gb=2"},
		}
		for i, a := range actions {
			names = append(names, fmt.Sprint(a.path, " ", i))
		}
		made := 0
		pairsAtOnce(t, names, 6, 2, func() round {
			made++
			d := s.desk(t, program, made)
			return round{send: func(i int) string {
				a := actions[i]
				res := d.post("do/"+a.path, url.Values{"id": {fmt.Sprint(a.id(d))}}.Encode()+"&"+a.form)
				if res.Code == http.StatusNotFound || res.Code == http.StatusForbidden {
					t.Errorf("%s: HTTP %d", a.path, res.Code)
				}
				return fmt.Sprint(res.Code, " ", d.outcome(res))
			}, state: d.state}
		})
	})
}
