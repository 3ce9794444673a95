package acctmgr_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/decide/acctmgr"
	"github.com/starling-grid/starling/reason"
)

const (
	key = "1024\nabc\n."
	url = "https://p.example/"
)

func TestDecide(t *testing.T) {
	yes, no, share, wild := true, false, 50.0, 1e308
	own := acctmgr.Project{URL: url, Authenticator: "1_a", Tasks: 2}
	managed := own
	managed.Managed = true
	idle := managed
	idle.Tasks = 0
	terms := acctmgr.Terms{Share: &share, NoMoreWork: &no, Suspended: &yes}
	done := acctmgr.Terms{NoMoreWork: &yes, DetachWhenDone: true}
	for _, c := range []struct {
		name    string
		here    []acctmgr.Project
		account acctmgr.Account
		want    acctmgr.Plan
		note    string
	}{
		{name: "new", account: acctmgr.Account{Authenticator: "k", Terms: terms}, want: acctmgr.Plan{Attach: []acctmgr.Attachment{{url, "k", terms}}}},
		{name: "known, with a share that is none", here: []acctmgr.Project{own}, account: acctmgr.Account{Terms: acctmgr.Terms{Share: &wild}}, want: acctmgr.Plan{Keep: []acctmgr.Kept{{URL: url}}}, note: "1e308 is not between 0 and 1000000"},
		{name: "new with a forged address", account: acctmgr.Account{Authenticator: "k", Forged: errors.New("bad")}, note: "its address is not signed correctly: bad"},
		{name: "new without a key", note: "no account key"},
		{name: "new, but to be detached", account: acctmgr.Account{Authenticator: "k", Detach: true}},
		{name: "new, but to be detached when done", account: acctmgr.Account{Authenticator: "k", DetachWhenDone: true}},
		{name: "known", here: []acctmgr.Project{own}, account: acctmgr.Account{Forged: errors.New("does not matter"), Terms: terms, Update: true, Abort: true}, want: acctmgr.Plan{Keep: []acctmgr.Kept{{URL: url, Terms: terms, Update: true, Abort: true}}}},
		{name: "known with a new weak key", here: []acctmgr.Project{own}, account: acctmgr.Account{Authenticator: "1_b"}, want: acctmgr.Plan{Keep: []acctmgr.Kept{{URL: url, Authenticator: "1_b"}}}},
		{name: "known with another's key", here: []acctmgr.Project{own}, account: acctmgr.Account{Authenticator: "b"}, want: acctmgr.Plan{Keep: []acctmgr.Kept{{URL: url}}}, note: "keeps its current account"},
		{name: "detach its own", here: []acctmgr.Project{managed}, account: acctmgr.Account{Detach: true}, want: acctmgr.Plan{Detach: []acctmgr.Detachment{{url, "the account manager removed it"}}}},
		{name: "detach the volunteer's", here: []acctmgr.Project{own}, account: acctmgr.Account{Detach: true}, note: "it was attached by you"},
		{name: "detach when done, with tasks", here: []acctmgr.Project{managed}, account: acctmgr.Account{DetachWhenDone: true}, want: acctmgr.Plan{Keep: []acctmgr.Kept{{URL: url, Terms: done}}}},
		{name: "detach when done, without", here: []acctmgr.Project{idle}, account: acctmgr.Account{DetachWhenDone: true}, want: acctmgr.Plan{Detach: []acctmgr.Detachment{{url, "the account manager removed it, and its tasks are finished"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.account.URL = url
			got := acctmgr.Decide("", acctmgr.Reply{SigningKey: key, Accounts: []acctmgr.Account{c.account}}, c.here)
			notes := strings.Join(got.Notes, "\n")
			got.Notes = nil
			if !reflect.DeepEqual(got, c.want) || (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
				t.Errorf("got %+v and %q, want %+v and %q", got, notes, c.want, c.note)
			}
		})
	}
}

func TestOnlyTheManagersKeyCounts(t *testing.T) {
	r := acctmgr.Reply{SigningKey: key, Accounts: []acctmgr.Account{{URL: url, Authenticator: "k"}}}
	if p := acctmgr.Decide(key+"\n", r, nil); p.Refused != "" || len(p.Attach) != 1 {
		t.Errorf("with the known key: %+v", p)
	}
	if p := acctmgr.Decide("1024\ndef\n.", r, nil); p.Refused != reason.ManagerKeyChanged || len(p.Attach) != 0 {
		t.Errorf("with another key: %+v", p)
	}
	r.SigningKey = ""
	if p := acctmgr.Decide("", r, nil); p.Refused != reason.ManagerUnsigned || len(p.Attach) != 0 {
		t.Errorf("without a key: %+v", p)
	}
}

func TestNamedTwice(t *testing.T) {
	a, plain := acctmgr.Account{URL: url, Authenticator: "k"}, acctmgr.Account{URL: "http://p.example/", Authenticator: "k"}
	p := acctmgr.Decide("", acctmgr.Reply{SigningKey: key, Accounts: []acctmgr.Account{a, a, plain}}, nil)
	if len(p.Attach) != 1 {
		t.Errorf("attached %d times", len(p.Attach))
	}
	plain.Detach = true
	p = acctmgr.Decide("", acctmgr.Reply{SigningKey: key, Accounts: []acctmgr.Account{plain}}, []acctmgr.Project{{URL: url, Managed: true}})
	if len(p.Detach) != 1 || p.Detach[0].URL != url {
		t.Errorf("named without TLS: %+v, want %s detached", p, url)
	}
}

func TestDue(t *testing.T) {
	now := time.Unix(1e9, 0)
	for period, want := range map[time.Duration]time.Duration{
		0: 24 * time.Hour, -1: 24 * time.Hour, time.Second: time.Minute, 3 * time.Hour: 3 * time.Hour, 1 << 62: 30 * 24 * time.Hour,
	} {
		if got := acctmgr.Succeeded(now, period).Sub(now); got != want {
			t.Errorf("period %v: asked again after %v, want %v", period, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	last := time.Duration(0)
	for n := 1; n < 20; n++ {
		d := acctmgr.Failed(now, n, rng).Sub(now)
		if d < 5*time.Minute || d > 24*time.Hour || n < 7 && d < last/2 {
			t.Errorf("after failure %d: %v", n, d)
		}
		last = d
	}
	if last < 12*time.Hour {
		t.Errorf("backoff ends at %v", last)
	}
}
