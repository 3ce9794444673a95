package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// Strangers who ask for new passwords do not keep the owner of an account from changing its address.
func TestStrangersUseUpNoMailOfTheOwner(t *testing.T) {
	t.Parallel()
	_, v := newSite(t)
	v.signUp("ada@example.org")
	stranger := newVisitor(t, v.base)
	for range 10 {
		stranger.wants(200)(stranger.do("POST", "forgot", url.Values{"email": {"ada@example.org"}}))
	}
	v.wants(200, "sent an e-mail to the new address")(v.do("POST", "settings", url.Values{"what": {"email"}, "email": {"lovelace@example.org"}, "old": {"long enough"}}))
}

// A leaver is a browser that leaves once something has happened.
type leaver struct {
	*httptest.ResponseRecorder
	is   func() bool
	gone context.CancelFunc
}

func (l leaver) Header() http.Header {
	if l.is() {
		l.gone()
	}
	return l.ResponseRecorder.Header()
}

// The tasks of an account that is deleted are given to others, even if its owner's browser does not wait for the answer.
func TestADeletionGoesOnWithoutTheBrowser(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	v.signUp("ada@example.org")
	w.create(workgen.Params{Name: "wu", MinQuorum: 1}, "hello")
	c := &client{w: w, key: w.userByEmail("ada@example.org").Authenticator, name: "a"}
	c.fetch()
	form := url.Values{"email": {"ada@example.org"}, "password": {"long enough"}}
	req := httptest.NewRequestWithContext(t.Context(), "POST", v.base+"login", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	in := httptest.NewRecorder()
	w.web.ServeHTTP(in, req)
	ctx, gone := context.WithCancel(t.Context())
	defer gone()
	form = url.Values{"what": {"delete"}, "old": {"long enough"}}
	req = httptest.NewRequestWithContext(ctx, "POST", v.base+"settings", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, cookie := range in.Result().Cookies() {
		req.AddCookie(cookie)
	}
	w.web.ServeHTTP(leaver{httptest.NewRecorder(), func() bool {
		return errors.Is(w.p.Store.View(t.Context(), func(tx *store.View) error { _, err := tx.UserByEmail("ada@example.org"); return err }), store.ErrNotFound)
	}, gone}, req)
	if ctx.Err() == nil {
		t.Fatal("the account was not deleted")
	}
	if st := w.status(); st.Results.ByOutcome["client_detached"] != 1 {
		t.Errorf("its task in progress: %+v", st.Results)
	}
}
