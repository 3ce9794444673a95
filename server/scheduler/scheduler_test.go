package scheduler_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeys(t *testing.T) {
	for _, tt := range []struct{ name, key, want, signature string }{
		{"none", "", "1024\nab\n.", ""},
		{"ours", "1024\r\nAB\n.", "", ""},
		{"a former one", "1024\ncd\n.", "1024\nab\n.", "ef\n."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.addWork("a", 1)
			got := w.send(capture(t, "01-first-contact-with-work", "</hostid>", "</hostid><code_sign_key>"+tt.key+"</code_sign_key>"))
			if strings.TrimSpace(got.CodeSignKey) != tt.want || strings.TrimSpace(got.CodeSignKeySignature) != tt.signature || len(got.Results) != 1 {
				t.Errorf("key %q, signature %q, %d results", got.CodeSignKey, got.CodeSignKeySignature, len(got.Results))
			}
		})
	}
	t.Run("a foreign one", func(t *testing.T) {
		w := newWorld(t)
		w.addWork("a", 1)
		got := w.send(capture(t, "01-first-contact-with-work", "</hostid>", "</hostid><code_sign_key>1024 ff</code_sign_key>"))
		if got.CodeSignKey != "" || len(got.Results) != 0 || !strings.Contains(texts(got), "security key") {
			t.Errorf("key %q, %d results, %q", got.CodeSignKey, len(got.Results), texts(got))
		}
	})
}

// A reply is lost: the host does not have the results that were sent to it.
func TestLostResultsAreSentAgain(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	w.addWork("b", 1)
	host := w.first().HostID
	w.addWork("c", 1)
	w.cancel("b")
	w.now = w.now.Add(50 * time.Minute)
	got := w.as(host, 1, "15-too-soon-asks-work")
	if want := []string{"a_0"}; !slices.Equal(names(got.Results, resultName), want) {
		t.Fatalf("got %v, want %v: lost results come first, and alone", names(got.Results, resultName), want)
	}
	if want := w.now.Add(30 * time.Minute); !got.Results[0].ReportDeadline.Equal(want) || !w.result("a_0").ReportDeadline.Equal(want) {
		t.Errorf("deadline %v, want %v", got.Results[0].ReportDeadline, want)
	}
	if r := w.result("b_0"); !r.ReportDeadline.Before(w.now) {
		t.Errorf("a lost result that nobody needs has the deadline %v", r.ReportDeadline)
	}
	other := "<other_results><other_result><name>a_0</name></other_result><other_result><name>b_0</name></other_result></other_results></scheduler_request>"
	got = w.as(host, 2, "15-too-soon-asks-work", "</scheduler_request>", other)
	if want := []string{"c_0"}; !slices.Equal(names(got.Results, resultName), want) {
		t.Errorf("got %v, want %v", names(got.Results, resultName), want)
	}
	if want := []string{"b_0"}; !slices.Equal(got.ResultAborts, want) {
		t.Errorf("aborts %v, want %v", got.ResultAborts, want)
	}
}

// A computer that loses its result again and again does not keep it from others for ever.
func TestALostResultIsNotExtendedForEver(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	host := w.first().HostID
	sent := w.now
	for n := range 4 {
		w.now = w.now.Add(50 * time.Minute) // of an hour
		w.as(host, n+1, "15-too-soon-asks-work")
	}
	if r := w.result("a_0"); r.ReportDeadline.After(w.now) {
		t.Errorf("%v after it was sent for an hour, it is due in %v", w.now.Sub(sent), r.ReportDeadline.Sub(w.now))
	}
}

func TestPlainProgramsGetCopies(t *testing.T) {
	w := newWorld(t)
	w.addVersion("x86_64-pc-linux-gnu", 101, true)
	w.addWork("a", 1)
	got := w.first()
	if got.AppVersions[0].VersionNum != 101 {
		t.Errorf("version %d, want the newest", got.AppVersions[0].VersionNum)
	}
	if !got.Workunits[0].FileRefs[0].CopyFile || !got.Results[0].FileRefs[0].CopyFile {
		t.Error("files of a plain program are links")
	}
}

func TestNotARequest(t *testing.T) {
	w := newWorld(t)
	for _, body := range []string{"", "hello", "<scheduler_request>", string(capture(t, "14-not-xml"))} {
		got := w.send([]byte(body))
		if !strings.HasPrefix(texts(got), "low: Error in request message") || got.User != nil || got.ProjectName != "Bench" {
			t.Errorf("%.20q: %+v", body, got)
		}
	}
}

// Every request that the real clients sent in the captures gets an answer that
// clients can read.
func TestRealRequests(t *testing.T) {
	files, err := filepath.Glob("../../protocol/testdata/captures/*/*/*scheduler.request.http")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d requests, %v", len(files), err)
	}
	w := newWorld(t)
	w.addWork("a", 5)
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		_, body, _ := bytes.Cut(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
		body = bytes.Replace(body, []byte("9aba8a57a1d5e26a5ca9e5b35f8d2a44"), []byte(w.User.Authenticator), 1)
		if got := w.send(body); got.User == nil {
			t.Errorf("%s: %s", f, texts(got))
		}
		w.now = w.now.Add(time.Minute)
	}
}
