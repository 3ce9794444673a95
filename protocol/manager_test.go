package protocol_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A possible reply of an account manager.
const managerReply = `<?xml version="1.0" encoding="ISO-8859-1" ?>
<acct_mgr_reply>
<name>Chooser &amp; Co</name>
<user_name>Ann</user_name>
<signing_key>
1024
ab
.
</signing_key>
<message>Thank you</message>
<repeat_sec>3600.5</repeat_sec>
<opaque><mark>7</mark></opaque>
<host_venue>work</host_venue>
<rss_feeds><rss_feed><url>http://feed.example/</url></rss_feed></rss_feeds>
<global_preferences>
<mod_time>12</mod_time>
</global_preferences>
<account>
  <url>https://p.example/</url>
  <url_signature>
aa
.
  </url_signature>
  <authenticator>7_ab</authenticator>
  <dont_request_more_work>0</dont_request_more_work>
  <suspend/>
  <resource_share>12.5</resource_share>
  <no_rsc>CPU</no_rsc>
  <update>1</update>
</account>
<account><authenticator>no address</authenticator></account>
<account><url>https://q.example/</url><detach>1</detach><resource_share>-3</resource_share></account>
</acct_mgr_reply>`

func TestManagerReply(t *testing.T) {
	r, err := protocol.ParseManagerReply([]byte(managerReply))
	must(t, err)
	if r.Name != "Chooser & Co" || r.UserName != "Ann" || r.Repeat != 3600500*time.Millisecond || r.Venue != "work" || len(r.Messages) != 1 ||
		strings.TrimSpace(r.Opaque) != "<mark>7</mark>" || !strings.Contains(r.SigningKey, "1024\nab") || !strings.Contains(r.GlobalPrefs, "<mod_time>12") {
		t.Errorf("got %+v", r)
	}
	if len(r.Accounts) != 2 {
		t.Fatalf("%d accounts, want the two with an address", len(r.Accounts))
	}
	a, b := r.Accounts[0], r.Accounts[1]
	if a.URL != "https://p.example/" || a.Authenticator != "7_ab" || a.NoMoreWork == nil || *a.NoMoreWork || a.Suspend == nil || !*a.Suspend ||
		a.ResourceShare == nil || *a.ResourceShare != 12.5 || !a.NoCPU || !a.Update || a.Detach || a.DetachWhenDone != nil || strings.TrimSpace(a.URLSignature) != "aa\n." {
		t.Errorf("got %+v", a)
	}
	if !b.Detach || b.ResourceShare != nil || b.Suspend != nil {
		t.Errorf("got %+v", b)
	}
}

func TestManagerRequestHoldsWhatBOINCsDoes(t *testing.T) {
	r := protocol.ManagerRequest{Name: "Ann", PasswordHash: "ff", HostCPID: "cc", RunMode: "auto", Opaque: "<mark>7</mark>", Projects: []protocol.ManagedProject{
		{URL: "https://p.example/", AccountKey: "secret", Managed: true, DiskUsage: 2, DiskShare: 5}, {URL: "https://q.example/", AccountKey: "own"},
	}}
	text := string(r.Encode())
	for _, want := range []string{"<name>Ann</name>", "<password_hash>ff</password_hash>", "<host_cpid>cc</host_cpid>", "<account_key>secret</account_key>", "<opaque>\n<mark>7</mark>", "<host_info>", "<time_stats>", "<attached_via_acct_mgr>1", "<disk_usage>2.000000</disk_usage>\n<disk_share>5.000000</disk_share>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(text, "<account_key>own") {
		t.Error("the key of the volunteer's own project is told")
	}
	r.Authenticator = "weak"
	if text := string(r.Encode()); strings.Contains(text, "<name>") || strings.Contains(text, "password") || !strings.Contains(text, "<authenticator>weak<") {
		t.Errorf("with an authenticator: %s", text)
	}
}

func FuzzManagerReply(f *testing.F) {
	f.Add([]byte(managerReply))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := protocol.ParseManagerReply(b)
		if err != nil {
			return
		}
		for _, a := range r.Accounts {
			if a.URL == "" || a.ResourceShare != nil && !(*a.ResourceShare >= 0) {
				t.Errorf("account %+v", a)
			}
		}
	})
}
