package agent_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// raw matches texts that must not occur in a sentence for people: addresses, paths, and raw errors.
var raw = regexp.MustCompile(`https?://|/tmp/|\.\.part|(open|mkdir|read|write|download|upload) \S+:|\b(EOF|errno|syscall)\b`)

// downloading puts a task into the state that waits for its only input file.
func downloading(db *state.DB, tx *state.Tx) {
	waiting(db, tx)
	unit, _ := db.Units.Get(state.Key(demoURL, "w"))
	unit.FileRefs = []protocol.FileRef{{FileName: "in_1"}}
	db.Units.Put(tx, state.Key(demoURL, "w"), unit)
	db.Files.Put(tx, state.Key(demoURL, "in_1"), state.File{Project: demoURL, FileInfo: protocol.FileInfo{
		Name: "in_1", NBytes: 5, MD5: "5d41402abc4b2a76b9719d911017c592", DownloadURLs: []string{demoURL + "download/in_1"},
	}})
	r, _ := db.Results.Get(state.Key(demoURL, "w_0"))
	r.State, r.Suspended = protocol.ClientDownloading, false
	db.Results.Put(tx, state.Key(demoURL, "w_0"), r)
}

// TestWhyAFileWaits makes transfers fail for temporary reasons, and checks the text that people
// read: a cause, a cure, and nothing that belongs only into the log.
func TestWhyAFileWaits(t *testing.T) {
	t.Parallel()
	refusal := answer{code: 200, body: []byte("<data_server_reply>\n<status>1</status>\n<message>no room here</message>\n</data_server_reply>\n")}
	for _, tt := range []struct {
		name   string
		upload bool
		answer answer
		code   reason.Code
		text   string
	}{
		{"a server with a fault", false, answer{code: 500}, "server_error", "The project's server has a fault (HTTP 500 Internal Server Error)."},
		{"maintenance", false, answer{code: 503}, "maintenance", "The project is down for maintenance (HTTP 503 Service Unavailable)."},
		{"a lost connection", false, answer{code: 200, body: []byte("hel"), cut: true}, "connection_lost", "The connection to 127.0.0.1:18080 was lost before the reply was complete."},
		{"a short reply", false, answer{code: 200, body: []byte("hel")}, "connection_lost", "The connection to 127.0.0.1:18080 was lost before the reply was complete."},
		{"an upload to a server with a fault", true, answer{code: 500}, "server_error", "The project's server has a fault (HTTP 500 Internal Server Error)."},
		{"an upload to nowhere", true, answer{code: 404}, reason.NoUploads, "The address to upload to leads nowhere (HTTP 404 Not Found)."},
		{"an upload that is not taken now", true, refusal, reason.UploadRefused, "The project's server did not take the file. It says: no room here."},
		{"an upload answered by a web page", true, answer{code: 200, body: []byte("<html>Log in</html>")}, reason.NotAProject, "127.0.0.1:8180 answered with a web page that is not a project's: a network login page, a maintenance notice, or a wrong address."},
		{"an upload answered by nonsense", true, answer{code: 200, body: []byte("OK")}, reason.ReplyUnusable, "The reply of 127.0.0.1:8180 cannot be understood."},
		{"a web page instead of a file", false, answer{code: 200, body: []byte("<html>Log in</html>")}, reason.NotAProject, "127.0.0.1:18080 answered with a web page that is not a project's: a network login page, a maintenance notice, or a wrong address."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answers := withMaster(t, demoURL)
			url, fill, doing := demoURL, downloading, "Waiting for its input files."
			answers["in_1"] = []answer{tt.answer}
			if tt.upload {
				url, fill, doing = benchURL, finished, "Uploading its output files."
				answers = withMaster(t, benchURL)
				answers[upload] = []answer{tt.answer}
			}
			w := newWorld(t, url, answers, fill)
			if tt.upload {
				w.file("tt_1_0_0", "thirteen byte")
			}
			w.run(func(t *testing.T) {
				s := w.after(t, 90*time.Second)
				for n := 0; n < 100 && (len(s.Transfers) == 0 || s.Transfers[0].Trouble == "" || s.Transfers[0].Active); n++ {
					s = w.after(t, time.Second)
				}
				if len(s.Transfers) != 1 || len(s.Tasks) != 1 {
					t.Fatalf("got %+v, %+v", s.Transfers, s.Tasks)
				}
				x, why := s.Transfers[0], s.Tasks[0].Why
				if x.TroubleCode != tt.code || x.Trouble != tt.text || x.TroubleCure == "" || x.TroubleDetail == "" {
					t.Errorf("the transfer says %+v", x)
				}
				if !strings.HasPrefix(why, doing+" "+tt.text+" Trying "+x.Name+" again ") {
					t.Errorf("the task says %q", why)
				}
				r, err := w.a.Decision(t.Context())
				if err != nil || r.Plan.Results[0].Text.String() != why {
					t.Errorf("starling why says %q, %v; the task %q", r.Plan.Results[0].Text, err, why)
				}
				plainWords(t, x.Trouble, x.TroubleCure, why)
			})
		})
	}
}

// A web page in place of a file is waited out while it may be the login page of a network. If the
// project's scheduler has replied for days, it is the project's answer, and the task fails.
func TestAPageStaysInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	reply := answer{code: 200, body: []byte("<scheduler_reply><hostid>111</hostid></scheduler_reply>")}
	for _, replies := range []bool{true, false} {
		answers := withMaster(t, demoURL, reply)
		answers["in_1"] = []answer{{code: 200, body: []byte("<html>Not found</html>")}}
		w := newWorld(t, demoURL, answers, downloading)
		w.run(func(t *testing.T) {
			for n := range 16 {
				if replies {
					must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
				}
				s := w.after(t, 6*time.Hour)
				if failed := len(s.Tasks) != 1 || s.Tasks[0].Failed; failed && n < 12 {
					t.Fatalf("after %d quarters of a day: %+v", n+1, s.Tasks)
				}
			}
			if r := w.after(t, time.Second); len(r.Tasks) != 1 || r.Tasks[0].Failed != replies {
				t.Errorf("replies %v, after four days: %+v", replies, r.Tasks)
			}
		})
	}
}

// plainWords looks for what people should not have to read.
func plainWords(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if found := raw.FindString(text); found != "" {
			t.Errorf("%q has %q", text, found)
		}
	}
}

// If a person updates a project, its transfers no longer wait for their next attempt.
func TestUpdateTriesTransfersAgain(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL)
	answers["in_1"] = []answer{{code: 503}}
	w := newWorld(t, demoURL, answers, downloading)
	w.run(func(t *testing.T) {
		s := w.after(t, time.Second)
		for len(s.Transfers) != 1 || time.Until(s.Transfers[0].NextTry) < time.Hour { // after several failures
			s = w.after(t, time.Minute)
		}
		before := w.count("in_1")
		must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
		w.after(t, time.Minute)
		if n := w.count("in_1"); n == before {
			t.Errorf("not tried after %d attempts", n)
		}
	})
}

// TestACanceledTransfer: a task that a person ended by canceling its file did not fail on
// this computer.
func TestACanceledTransfer(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL)
	answers["in_1"] = []answer{{code: 503}}
	w := newWorld(t, demoURL, answers, downloading)
	w.run(func(t *testing.T) {
		for n := 0; n < 100 && len(w.after(t, time.Second).Transfers) == 0; n++ {
		}
		must(t, w.a.SteerTransfer(t.Context(), demoURL, "in_1", true))
		var s control.Status
		for n := 0; n < 100 && (len(s.Tasks) == 0 || !s.Tasks[0].Ready); n++ {
			s = w.after(t, time.Second)
		}
		if len(s.Tasks) != 1 || !strings.HasPrefix(s.Tasks[0].Why, "Failed: you canceled the transfer of its file in_1.") {
			t.Errorf("got %+v", s.Tasks)
		}
		if s.Projects[0].Failing != nil {
			t.Errorf("the project is left alone for it: %+v", s.Projects[0].Failing)
		}
	})
}
