package protocol_test

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// Each decoder accepts any bytes without a panic. Decoded values can be encoded, and decoding them
// again gives the same values.

func seed(f *testing.F, pattern string) {
	for _, b := range captured(f, pattern) {
		f.Add(b)
	}
}

func FuzzSchedulerRequest(f *testing.F) {
	seed(f, "*scheduler.request.http")
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := protocol.ParseSchedulerRequest(b)
		if err != nil {
			return
		}
		again, err := protocol.ParseSchedulerRequest(r.Encode())
		if err != nil {
			return // raw text of the peer, passed on unchanged, may contain any tag
		}
		if r.HostID != again.HostID || r.RPCSeqno != again.RPCSeqno {
			t.Errorf("host %d seqno %d became %d, %d", r.HostID, r.RPCSeqno, again.HostID, again.RPCSeqno)
		}
	})
}

func FuzzSchedulerReply(f *testing.F) {
	seed(f, "*scheduler.response.http")
	f.Add([]byte(`<scheduler_reply><starling_refusal code="memory" app="a&quot;" need="2" have="1"/></scheduler_reply>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := protocol.ParseSchedulerReply(b)
		if err != nil {
			return
		}
		again, err := protocol.ParseSchedulerReply((&protocol.SchedulerReply{Refusals: r.Refusals}).Encode())
		if err != nil || len(again.Refusals) != len(r.Refusals) {
			t.Errorf("refusals %+v became %+v, %v", r.Refusals, again, err)
		}
		r.Encode()
	})
}

func FuzzElements(f *testing.F) {
	f.Add([]byte(protocol.Workunit{Name: "w", FileRefs: []protocol.FileRef{{FileName: "in"}}}.XML()))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := protocol.ParseElements(b)
		if err != nil {
			return
		}
		for _, u := range e.Workunits {
			again, err := protocol.ParseElements([]byte(u.XML()))
			if err != nil || len(again.Workunits) != 1 || again.Workunits[0].Name != u.Name {
				t.Errorf("workunit %+v became %+v, %v", u, again, err)
			}
		}
	})
}

func FuzzUploadRequest(f *testing.F) {
	seed(f, "*upload.request.http")
	seed(f, "*upload-size-query.request.http")
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := protocol.ReadUploadRequest(bufio.NewReader(bytes.NewReader(b)))
		if err == nil && (r.Name == "" || r.NBytes < 0 || r.Offset < 0 || r.MaxNBytes < 0) {
			t.Errorf("accepted %+v", r)
		}
	})
}

func FuzzUploadReply(f *testing.F) {
	seed(f, "*upload*.response.http")
	f.Fuzz(func(_ *testing.T, b []byte) {
		if r, err := protocol.ParseUploadReply(b); err == nil {
			r.Encode()
		}
	})
}

func FuzzAccountReply(f *testing.F) {
	seed(f, "*_account.response.http")
	f.Fuzz(func(t *testing.T, b []byte) {
		if key, err := protocol.ParseAccountReply(b); err == nil && key == "" {
			t.Error("no key and no error")
		}
	})
}

func FuzzProjectConfig(f *testing.F) {
	seed(f, "*project-config.response.http")
	f.Fuzz(func(_ *testing.T, b []byte) {
		if c, err := protocol.ParseProjectConfig(b); err == nil {
			c.Encode()
		}
	})
}

func FuzzMasterPage(f *testing.F) {
	seed(f, "*master.response.http")
	f.Fuzz(func(t *testing.T, b []byte) {
		if urls, err := protocol.SchedulerURLs(b); err == nil && len(urls) == 0 {
			t.Error("no URL and no error")
		}
	})
}

func FuzzKeysAndSignatures(f *testing.F) {
	pub, sig := vector(f, "code_sign_public"), vector(f, "content-1.txt.sig")
	f.Add(pub, sig)
	f.Fuzz(func(t *testing.T, key, signature string) {
		k, err := protocol.ParsePublicKey(key)
		if err != nil {
			return
		}
		if again, err := protocol.ParsePublicKey(k.Text()); err != nil || again.Text() != k.Text() {
			t.Errorf("key text changed: %v", err)
		}
		_ = k.VerifyText("content", signature)
	})
}

func FuzzMasterURL(f *testing.F) {
	f.Add("http://127.0.0.1:8080/x")
	f.Fuzz(func(t *testing.T, s string) {
		u, err := protocol.CanonicalMasterURL(s)
		if err != nil {
			return
		}
		if again, err := protocol.CanonicalMasterURL(u); err != nil || again != u {
			t.Errorf("%q: canonical %q became %q, %v", s, u, again, err)
		}
		if name := protocol.EscapeURL(u); name == "" {
			t.Errorf("%q has no folder name", u)
		}
	})
}

func FuzzStatistics(f *testing.F) {
	f.Add([]byte("<project_statistics><master_url>http://p.example/</master_url><daily_statistics><day>1</day></daily_statistics></project_statistics>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, days, err := protocol.ParseStatistics(b)
		for i := range days {
			if err != nil || i > 0 && days[i].Day.Before(days[i-1].Day) {
				t.Errorf("days %v, %v", days, err)
			}
		}
	})
}

// Feeds and links of a project are read without a panic, and the values are bounded and safe to
// show on a terminal.
func FuzzFeed(f *testing.F) {
	f.Add([]byte(`<rss><channel><item><title><![CDATA[a <b>]]></title><guid>1</guid><pubDate>Fri, 20 Nov 2026 09:30:00 GMT</pubDate></item></channel></rss>`))
	f.Add([]byte(`<gui_url><name>a</name><url>https://p.example/</url></gui_url>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		items, _ := protocol.ParseFeed(b)
		for _, v := range items {
			if bytes.ContainsRune([]byte(v.Title+v.GUID+v.Link+v.Description), 0x1b) {
				t.Errorf("%+v steers a terminal", v)
			}
		}
		if links := protocol.ParseGUIURLs(string(b)); len(items) > 200 || len(links) > 30 {
			t.Errorf("%d items, %d links", len(items), len(links))
		}
	})
}
