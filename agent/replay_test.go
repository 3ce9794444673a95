package agent_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

func upstream(t *testing.T, name string) answer {
	return recorded(t, "upstream-server/"+name+".response.http")
}

func TestUpstreamSendsWorkWithABadSignature(t *testing.T) {
	t.Parallel()
	// The program's signature in this capture is a row of zeros.
	answers := withMaster(t, benchURL, upstream(t, "01-first-contact-with-work"),
		upstream(t, "07-report-one-ok"), upstream(t, "08-report-error"), upstream(t, "15-too-soon-asks-work"))
	answers["bench_1.0_x86_64-pc-linux-gnu"] = []answer{{code: 200, body: bytes.Repeat([]byte("x"), 1000)}}
	answers["in_bench"] = []answer{{code: 200, body: bytes.Repeat([]byte("y"), 1024)}}
	w := newWorld(t, benchURL, answers, nil)
	w.run(func(t *testing.T) {
		w.after(t, 10*time.Minute)
		first := w.request(t, 0)
		if first.HostID != 0 || first.RPCSeqno != 0 || !first.WantsWork() || first.CodeSignKey != "" {
			t.Errorf("first contact: host %d, seqno %d, wants work %v, key %q", first.HostID, first.RPCSeqno, first.WantsWork(), first.CodeSignKey)
		}
		second := w.request(t, 1)
		if second.HostID != 111 || second.RPCSeqno != 0 || second.CodeSignKey == "" {
			t.Errorf("second contact: host %d, seqno %d, key %.10q; want 111, 0 and the key", second.HostID, second.RPCSeqno, second.CodeSignKey)
		}
		if len(second.Results) != 2 {
			t.Fatalf("%d results reported, want 2", len(second.Results))
		}
		for _, r := range second.Results {
			if r.ExitStatus != protocol.ExitDownloadFailed || r.State != protocol.ClientDownloading || !strings.Contains(r.StderrOut, "bench_1.0") && !strings.Contains(r.StderrOut, "in_bench") {
				t.Errorf("reported %s: state %v, exit status %d, %q", r.Name, r.State, r.ExitStatus, r.StderrOut)
			}
		}
		// 07 acknowledges the first only. The other is reported again.
		third := w.request(t, 2)
		if len(third.Results) != 1 || third.Results[0].Name != "tt_1118_0" || third.RPCSeqno != 1 {
			t.Errorf("third contact: seqno %d, reports %+v", third.RPCSeqno, third.Results)
		}
		entries, err := os.ReadDir(filepath.Join(w.dir, "projects", protocol.EscapeURL(benchURL)))
		must(t, err)
		for _, e := range entries {
			t.Errorf("%s is kept although it was never good", e.Name())
		}
	})
}

func TestUpstreamRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		capture string
		message string // shown to the volunteer
		code    reason.Code
		silence time.Duration // no contact before that
	}{
		{"10-bad-authenticator", "Invalid or missing account key", reason.KeyRefused, time.Hour},
		{"13-wrong-platform", "z80-cpm", reason.PlatformRefused, 24 * time.Hour},
		{"14-not-xml", "Error in request message", reason.ReplyUnusable, 0},
	} {
		t.Run(tt.capture, func(t *testing.T) {
			w := newWorld(t, benchURL, withMaster(t, benchURL, upstream(t, tt.capture)), nil)
			w.run(func(t *testing.T) {
				p := w.project(t, 4*time.Minute)
				if !strings.Contains(strings.Join(p.Notices, "\n"), tt.message) {
					t.Errorf("notices %q, want %q", p.Notices, tt.message)
				}
				if p.TroubleCode != tt.code || p.TroubleCure == "" {
					t.Errorf("trouble %q %q, want %q", p.TroubleCode, p.Trouble, tt.code)
				}
				if tt.silence > 0 && (p.WorkCode != tt.code || p.WorkCure != p.TroubleCure || !strings.HasPrefix(p.Work, p.Trouble)) {
					t.Errorf("work is not fetched because %q %q, want the same as the trouble %q", p.WorkCode, p.Work, p.Trouble)
				}
				if p.WorkCode == "ask" || p.Work == "" {
					t.Errorf("no reason is given for fetching nothing: %q %q", p.WorkCode, p.Work)
				}
				w.after(t, tt.silence-5*time.Minute)
				if n := w.count(sched); n != 1 {
					t.Errorf("the scheduler was asked %d times within %v", n, tt.silence)
				}
				w.after(t, 30*time.Hour)
				if n := w.count(sched); n < 2 {
					t.Error("the scheduler was never asked again")
				}
			})
		})
	}
}

func TestUpstreamTakesUsForACopy(t *testing.T) {
	t.Parallel()
	known := func(db *state.DB, tx *state.Tx) {
		db.Projects.Put(tx, benchURL, state.Project{
			MasterURL: benchURL, SchedulerURLs: []string{benchURL + "cgi"}, HostID: 111, RPCSeqno: 5,
			Contact: state.Contact{Initialized: true},
		})
	}
	for _, capture := range []string{"11-old-seqno", "12-unknown-hostid"} {
		w := newWorld(t, benchURL, withMaster(t, benchURL, upstream(t, capture), upstream(t, "09-report-again-and-unknown")), known)
		w.run(func(t *testing.T) {
			w.after(t, time.Hour)
			if r := w.request(t, 0); r.HostID != 111 || r.RPCSeqno != 5 {
				t.Errorf("%s: first request has host %d, seqno %d", capture, r.HostID, r.RPCSeqno)
			}
			if r := w.request(t, 1); r.HostID != 112 || r.RPCSeqno != 0 {
				t.Errorf("%s: next request has host %d, seqno %d; want 112, 0", capture, r.HostID, r.RPCSeqno)
			}
		})
	}
}

func TestFaultsOfServersLeadToBackoffAndNothingElse(t *testing.T) {
	t.Parallel()
	faults := func(name string) answer { return recorded(t, "debian-7.20.5/faults/"+name+".response.http") }
	e500 := faults("003-scheduler")
	answers := map[string][]answer{
		master: {faults("001-master"), {code: 0}, {code: 0}, {code: 0}, faults("002-master")},
		sched: {
			e500, e500, e500, // the short retries of one session
			faults("004-scheduler"), faults("005-scheduler"), faults("006-scheduler"),
			{code: 200, body: faults("007-scheduler").body[:900], cut: true},
			recorded(t, "debian-7.20.5/keys/006-scheduler.response.http"),
		},
	}
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		var seen []string
		last := ""
		for range 4 * 60 * 60 { // every second for four hours
			p := w.project(t, time.Second)
			if p.TroubleFull != last {
				seen = append(seen, string(p.TroubleCode)+": "+p.TroubleFull)
				last = p.TroubleFull
				if p.Trouble != "" && p.NextContact.Before(time.Now().Add(5*time.Second)) {
					t.Errorf("%q: next contact at %v, want a wait", p.Trouble, p.NextContact)
				}
				if p.Trouble != "" && (p.TroubleCure == "" || p.TroubleSince.IsZero() || strings.Contains(p.Trouble, "EOF")) {
					t.Errorf("%+v: no cure, no start or raw words", p)
				}
			}
		}
		want := []string{
			"not_a_project: ", "connection_lost: ", ": ", "server_error: ", "not_a_project: ", "maintenance: ", "reply_unusable: ", "connection_lost: ", ": ",
		}
		if len(seen) != len(want) {
			t.Fatalf("troubles were %q, want %q", seen, want)
		}
		for i := range want {
			if !strings.HasPrefix(seen[i], want[i]) {
				t.Errorf("trouble %d was %q, want %q in it", i, seen[i], want[i])
			}
		}
		if p := w.project(t, 0); !p.Initialized || p.Failures != 0 {
			t.Errorf("in the end: %+v", p)
		}
	})
}

func TestMasterPageIsFetchedAgainAfterTenFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), nil)
	w.run(func(t *testing.T) {
		w.after(t, 3*24*time.Hour)
		rpcs, masters := w.count(sched), w.count(master)
		if want := 1 + rpcs/10; masters != want {
			t.Errorf("%d scheduler failures led to %d fetches of the master page, want %d", rpcs, masters, want)
		}
		// 10 failures cost 1+2+4+… minutes up to 4 hours, halved at the most.
		if perDay := rpcs / 3; perDay < 6 || perDay > 60 {
			t.Errorf("%d contacts a day with a server that is gone", perDay)
		}
	})
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	var replies []answer
	for _, n := range []string{"002", "003", "004", "005", "006"} {
		replies = append(replies, recorded(t, "debian-7.20.5/keys/"+n+"-scheduler.response.http"))
	}
	w := newWorld(t, demoURL, withMaster(t, demoURL, replies...), nil)
	w.run(func(t *testing.T) {
		for range 5 {
			w.after(t, 30*time.Second)
			must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
		}
		w.after(t, time.Minute)
		first, second := "b9dfd5c2", w.request(t, 4).CodeSignKey
		for n := 1; n <= 3; n++ { // none, then over the unstripped text
			if key := w.request(t, n).CodeSignKey; !strings.Contains(key, first) {
				t.Errorf("request %d carries key %.20q, want the first one", n, key)
			}
		}
		if strings.Contains(second, first) || second == "" {
			t.Error("the key signed by the old one was not taken")
		}
	})
}

// finished puts a project and a result whose output waits to be uploaded. newWorld makes its file.
func finished(db *state.DB, tx *state.Tx) {
	db.Projects.Put(tx, benchURL, state.Project{
		MasterURL: benchURL, SchedulerURLs: []string{benchURL + "cgi"}, HostID: 111, RPCSeqno: 1,
		Contact: state.Contact{Initialized: true},
	})
	db.Units.Put(tx, state.Key(benchURL, "tt_1"), state.Workunit{Project: benchURL, Workunit: protocol.Workunit{Name: "tt_1"}})
	db.Files.Put(tx, state.Key(benchURL, "tt_1_0_0"), state.File{
		Project: benchURL, Output: true, Local: state.FilePresent,
		FileInfo: protocol.FileInfo{Name: "tt_1_0_0", NBytes: 13, MaxNBytes: 100, XMLSignature: "00\n.\n", UploadURLs: []string{benchURL + "file_upload_handler"}},
	})
	db.Results.Put(tx, state.Key(benchURL, "tt_1_0"), state.Result{
		Project: benchURL, State: protocol.ClientUploading, Slot: state.NoSlot, Completed: time.Unix(1, 0),
		Result: protocol.Result{
			Name: "tt_1_0", WorkunitName: "tt_1", ReportDeadline: time.Unix(math.MaxInt32, 0),
			FileRefs: []protocol.FileRef{{FileName: "tt_1_0_0", OpenName: "out"}},
		},
	})
}

func TestUploadsAsUpstreamAnswersThem(t *testing.T) {
	t.Parallel()
	ack := upstream(t, "07-report-one-ok")
	ack.body = bytes.ReplaceAll(ack.body, []byte("tt_1117_0"), []byte("tt_1_0"))
	proxy := recorded(t, "debian-7.20.5/faults/027-upload.response.http")
	for _, tt := range []struct {
		name    string
		uploads []answer
		state   protocol.ClientState
		exit    int
		text    string
	}{
		{"taken at once", []answer{upstream(t, "03-upload-good")}, protocol.ClientUploaded, 0, ""},
		{
			"cut off, then a proxy's page, then taken",
			[]answer{upstream(t, "06-upload-truncated"), upstream(t, "02-upload-size-query"), proxy, upstream(t, "02-upload-size-query"), upstream(t, "03-upload-good")},
			protocol.ClientUploaded, 0, "",
		},
		{
			"all of it had arrived before",
			[]answer{{code: 0}, {code: 0}, {code: 0}, {code: 200, body: []byte("<data_server_reply><status>0</status><file_size>13</file_size></data_server_reply>")}},
			protocol.ClientUploaded, 0, "",
		},
		{"refused for good", []answer{upstream(t, "04-upload-altered-certificate")}, protocol.ClientUploadFailed, protocol.ExitUploadFailed, "invalid signature"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := withMaster(t, benchURL, ack)
			answers[upload] = tt.uploads
			w := newWorld(t, benchURL, answers, finished)
			w.file("tt_1_0_0", "hello, world\n")
			w.run(func(t *testing.T) {
				w.after(t, 2*time.Hour)
				reports := 0
				for n := range w.count(sched) {
					for _, r := range w.request(t, n).Results {
						reports++
						if r.State != tt.state || r.ExitStatus != tt.exit || !strings.Contains(r.StderrOut, tt.text) {
							t.Errorf("reported %+v, want state %v, exit status %d", r, tt.state, tt.exit)
						}
					}
				}
				if reports != 1 {
					t.Errorf("reported %d times, want once", reports)
				}
				if s := w.after(t, 0); len(s.Tasks) != 0 || len(s.Transfers) != 0 {
					t.Errorf("left over: %+v %+v", s.Tasks, s.Transfers)
				}
			})
		})
	}
}

func TestDefectiveWorkIsReportedWithTheReason(t *testing.T) {
	t.Parallel()
	// Each of the recorded replies has one defect. BOINC's client drops many of these jobs without
	// a message.
	for capture, want := range map[string]string{
		"005": "no version 100 of application", // no app and no app version
		"006": "no version 999 of application", // a version that was not sent
		"008": "did not describe file",         // no file_info for the input
		"010": "HTTP 404",                      // without platform and version: allowed, but the files are not there
		"022": "character '%'",                 // a file name that BOINC refuses
		"026": "application file has no signature",
		"034": "which this computer does not support", // foreign platform
	} {
		t.Run(capture, func(t *testing.T) {
			name := "debian-7.20.5/traps/" + capture + "-scheduler.response.http"
			first := recorded(t, "debian-7.20.5/keys/002-scheduler.response.http")
			answers := withMaster(t, demoURL, first, recorded(t, name), recorded(t, "debian-7.20.5/keys/006-scheduler.response.http"))
			if capture == "026" {
				answers["plain_1.11_x86_64-pc-linux-gnu"] = []answer{{code: 200, body: make([]byte, 682_696)}}
				answers["in_1"] = []answer{{code: 0}}
			}
			failsWith(t, answers, want)
		})
	}
}

// failsWith requires that the task in the second of a project's answers is reported with a reason.
func failsWith(t *testing.T, answers map[string][]answer, reason string) {
	t.Helper()
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		w.after(t, time.Minute)
		must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
		w.after(t, time.Hour)
		var got []string
		for n := range w.count(sched) {
			for _, r := range w.request(t, n).Results {
				got = append(got, r.StderrOut)
			}
		}
		if !strings.Contains(strings.Join(got, "\n"), reason) {
			t.Errorf("reported %q, want %q", got, reason)
		}
	})
}

// TestFilesKeepTheirRole alters a recorded reply so that a file has two roles, or a name that is the
// volunteer's. The task must fail before it can run.
func TestFilesKeepTheirRole(t *testing.T) {
	t.Parallel()
	const program, output = "plain_1.11_x86_64-pc-linux-gnu", "wu_trap_11_0_r1_0"
	for name, c := range map[string]struct{ from, to, want string }{
		"output named as the program":    {output, program, "is no output"},
		"output named as an input":       {output, "in_1", "is no output"},
		"program named as the output":    {program, output, "is no output"},
		"input named as the description": {"in_1", "app_info.xml", "did not describe file \"app_info.xml\""},
	} {
		t.Run(name, func(t *testing.T) {
			first := recorded(t, "debian-7.20.5/keys/002-scheduler.response.http")
			reply := recorded(t, "debian-7.20.5/traps/026-scheduler.response.http")
			reply.body = bytes.ReplaceAll(reply.body, []byte(c.from), []byte(c.to))
			answers := withMaster(t, demoURL, first, reply, recorded(t, "debian-7.20.5/keys/006-scheduler.response.http"))
			failsWith(t, answers, c.want)
		})
	}
}
