package protocol_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
)

// captured returns the bodies of real exchanges whose file name matches pattern.
func captured(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	var paths []string
	for _, dir := range []string{"*", "*/*"} {
		m, err := filepath.Glob(filepath.Join("testdata", "captures", dir, pattern))
		must(t, err)
		paths = append(paths, m...)
	}
	if len(paths) == 0 {
		t.Fatalf("no capture matches %s", pattern)
	}
	bodies := make(map[string][]byte)
	for _, p := range paths {
		b, err := os.ReadFile(p)
		must(t, err)
		name := strings.TrimPrefix(p, filepath.Join("testdata", "captures")+"/")
		if strings.HasSuffix(p, ".http") {
			_, body, ok := bytes.Cut(b, []byte("\r\n\r\n"))
			if !ok {
				if _, body, ok = bytes.Cut(b, []byte("\n\n")); !ok {
					t.Fatalf("%s: no end of header", p)
				}
			}
			b = body
		}
		bodies[name] = b
	}
	return bodies
}

func TestRealSchedulerRequests(t *testing.T) {
	bodies := captured(t, "*scheduler.request.http")
	for name, b := range captured(t, "*.request.xml") {
		if bytes.Contains(b, []byte("scheduler_request")) {
			bodies[name] = b
		}
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			r, err := protocol.ParseSchedulerRequest(body)
			must(t, err)
			if len(r.Authenticator) != 32 || r.Platform == "" || r.Host.NCPUs != 2 || r.Client.Major < 7 {
				t.Errorf("got key %q, platform %q, %d CPUs, client %v", string(r.Authenticator), r.Platform, r.Host.NCPUs, r.Client)
			}
			if !strings.Contains(r.WorkingPrefs, "<work_buf_min_days>") {
				t.Errorf("working preferences are %.60q", r.WorkingPrefs)
			}
			again, err := protocol.ParseSchedulerRequest(r.Encode())
			must(t, err)
			r.Trickles, again.Trickles = nil, nil
			dropLocal(r)
			dropLocal(again)
			if !reflect.DeepEqual(r, again) {
				t.Errorf("written and read again:\ngot  %+v\nwant %+v", again, r)
			}
		})
	}
}

// dropLocal removes elements that are read from a request but not written by this agent, which does
// not have them yet, and the padding of raw text.
func dropLocal(r *protocol.SchedulerRequest) {
	r.WorkingPrefs = strings.TrimSpace(r.WorkingPrefs)
	r.GlobalPrefs = strings.TrimSpace(r.GlobalPrefs)
}

func TestReportedResultIsReadFromARealRequest(t *testing.T) {
	body := captured(t, "015-scheduler.request.http")["debian-7.20.5/clean/015-scheduler.request.http"]
	r, err := protocol.ParseSchedulerRequest(body)
	must(t, err)
	if len(r.Results) != 1 {
		t.Fatalf("got %d results, want 1", len(r.Results))
	}
	res := r.Results[0]
	if !res.Success() || res.Name != "wu_upper_1_0" || len(res.Files) != 2 || !strings.Contains(res.StderrOut, "<stderr_txt>") {
		t.Errorf("got %+v", res)
	}
}

func TestRealSchedulerReplies(t *testing.T) {
	// The errors of replies that were made invalid on purpose.
	broken := map[string]string{
		"debian-7.20.5/faults/003-scheduler.response.http": "start tag not found", // 500
		"debian-7.20.5/faults/004-scheduler.response.http": "start tag not found", // HTML
		"debian-7.20.5/faults/006-scheduler.response.http": "is not closed",       // cut off
	}
	bodies := captured(t, "*scheduler.response.http")
	for name, b := range captured(t, "*.response.http") {
		if strings.HasPrefix(name, "upstream-server/") && bytes.Contains(b, []byte("scheduler_reply")) {
			bodies[name] = b
		}
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			r, err := protocol.ParseSchedulerReply(body)
			if want, bad := broken[name]; bad {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("got error %v, want one with %q", err, want)
				}
				return
			}
			must(t, err)
			again, err := protocol.ParseSchedulerReply(r.Encode())
			must(t, err)
			tidy(r)
			tidy(again)
			if !reflect.DeepEqual(r, again) {
				t.Errorf("written and read again:\ngot  %+v\nwant %+v", again, r)
			}
		})
	}
}

// tidy removes the padding around raw text.
func tidy(r *protocol.SchedulerReply) {
	trim := func(texts ...*string) {
		for _, s := range texts {
			*s = strings.TrimSpace(*s)
		}
	}
	trim(&r.GlobalPrefs, &r.ProjectPrefs, &r.GUIURLs)
	for i := range r.Files {
		trim(&r.Files[i].Signature, &r.Files[i].XMLSignature)
	}
	for i := range r.TrickleDowns {
		trim(&r.TrickleDowns[i].Text)
	}
}

func TestUpstreamReplyWithWork(t *testing.T) {
	body := captured(t, "01-first-contact-with-work.response.http")["upstream-server/01-first-contact-with-work.response.http"]
	r, err := protocol.ParseSchedulerReply(body)
	must(t, err)
	if r.HostID != 111 || r.MasterURL != "http://127.0.0.1:8180/bench/" || !r.DontUseDCF {
		t.Errorf("got host %d, master URL %q, dont_use_dcf %v", r.HostID, r.MasterURL, r.DontUseDCF)
	}
	if len(r.Results) != 2 || len(r.Workunits) != 2 || len(r.AppVersions) != 1 || len(r.Apps) != 1 {
		t.Fatalf("got %d results, %d workunits, %d app versions, %d apps", len(r.Results), len(r.Workunits), len(r.AppVersions), len(r.Apps))
	}
	if wu := r.Workunits[0]; wu.CommandLine != "--n 1" || wu.FileRefs[0].Logical() != "in" {
		t.Errorf("got workunit %+v", wu)
	}
	if res := r.Results[1]; res.Name != "tt_1118_0" || res.ReportDeadline.Unix() != 1795823797 || len(res.FileRefs) != 1 {
		t.Errorf("got result %+v", res)
	}
	if v := r.AppVersions[0]; !v.FileRefs[0].MainProgram || v.Flops < 3e8 {
		t.Errorf("got app version %+v", v)
	}
	if _, err := protocol.ParsePublicKey(r.CodeSignKey); err != nil {
		t.Error(err)
	}
}

func TestRealUploads(t *testing.T) {
	for name, body := range captured(t, "*upload.request.http") {
		in := bufio.NewReader(bytes.NewReader(body))
		r, err := protocol.ReadUploadRequest(in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data, err := io.ReadAll(in)
		must(t, err)
		if int64(len(data)) != r.NBytes-r.Offset {
			t.Errorf("%s: %d bytes of data, want %d from offset %d", name, len(data), r.NBytes, r.Offset)
		}
		again, err := protocol.ReadUploadRequest(bufio.NewReader(bytes.NewReader(append(r.Encode(), data...))))
		if err != nil || strings.TrimSpace(again.XMLSignature) != strings.TrimSpace(r.XMLSignature) || again.Name != r.Name || again.MD5 != r.MD5 {
			t.Errorf("%s: written and read again: %+v, %v", name, again, err)
		}
	}
	for name, body := range captured(t, "*upload-size-query.request.http") {
		r, err := protocol.ReadUploadRequest(bufio.NewReader(bytes.NewReader(body)))
		if err != nil || !r.SizeQuery || r.Name == "" {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}

func TestUpstreamUploadReplies(t *testing.T) {
	for name, want := range map[string]protocol.UploadReply{
		"02-upload-size-query.response.http":          {HasSize: true},
		"03-upload-good.response.http":                {},
		"04-upload-altered-certificate.response.http": {Status: -1, Message: "invalid signature"},
		"06-upload-truncated.response.http":           {Status: 1, Message: "EOF on socket read : asked for 13, got 8"},
	} {
		got, err := protocol.ParseUploadReply(captured(t, name)["upstream-server/"+name])
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, want)
		}
	}
	if _, err := protocol.ParseUploadReply([]byte("<html>sorry</html>")); err == nil {
		t.Error("a page without status was taken for a reply")
	}
}

func TestRealAccountCalls(t *testing.T) {
	for name, body := range captured(t, "*_account.response.http") {
		key, err := protocol.ParseAccountReply(body)
		if err == nil && key != "9aba8a57a1d5e26a5ca9e5b35f8d2a44" {
			t.Errorf("%s: got key %q", name, string(key))
		}
		if err != nil {
			var refusal *protocol.AccountError
			if !asAccountError(err, &refusal) || refusal.Num >= 0 {
				t.Errorf("%s: got error %v, want a project's refusal", name, err)
			}
		}
	}
	for name, body := range captured(t, "001-project-config.response.http") {
		c, err := protocol.ParseProjectConfig(body)
		if err != nil || c.Name != "Demo Project" || c.MasterURL != "http://127.0.0.1:18080/demo/" {
			t.Errorf("%s: got %+v, %v", name, c, err)
			continue
		}
		again, err := protocol.ParseProjectConfig(c.Encode())
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("%s: written and read again: %+v, %v", name, again, err)
		}
	}
}

func TestRealMasterPages(t *testing.T) {
	for name, body := range captured(t, "*master.response.http") {
		urls, err := protocol.SchedulerURLs(body)
		if name == "debian-7.20.5/faults/001-master.response.http" {
			if err == nil {
				t.Errorf("%s: found %v in a page without scheduler", name, urls)
			}
			continue
		}
		if err != nil || urls[0] != "http://127.0.0.1:18080/demo_cgi/cgi" {
			t.Errorf("%s: got %v, %v", name, urls, err)
		}
	}
}

var must = testerr.Must
