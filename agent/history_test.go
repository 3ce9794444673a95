package agent_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// history returns the whole history that an agent shows.
func (w *world) history(t *testing.T) []control.HistoryTask {
	t.Helper()
	h, err := w.a.History(t.Context(), control.HistoryQuery{})
	must(t, err)
	return h.Tasks
}

// timeline returns the computer's activities, the earliest first, with times since the bubble's
// midnight.
func (w *world) timeline(t *testing.T) (all []string) {
	t.Helper()
	v, err := w.a.Timeline(t.Context(), control.HistoryQuery{})
	must(t, err)
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range v.Spans {
		text := fmt.Sprintf("%s %s %v-%v", s.State, s.Code, s.Start.Sub(midnight).Round(time.Minute), s.End.Sub(midnight).Round(time.Minute))
		if s.Open {
			text += "…"
		}
		all = append([]string{strings.ReplaceAll(text, "  ", " ")}, all...)
	}
	return all
}

// A task that has run is in the history as it ended, and stays there when its result is
// reported and forgotten, and when the agent is started again.
func TestTasksThatRanAreInTheHistory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the recorded job is for x86_64-pc-linux-gnu")
	}
	const program = "plain_1.00_x86_64-pc-linux-gnu"
	for _, tt := range []struct {
		name, program         string
		outcome, code, stderr string
	}{
		{"finished", plainProgram, "finished", "", ""},
		{"failed", "#!/bin/sh\necho starting >&2\necho 'cannot allocate the frobnicator' >&2\nexit 3\n", "failed", "exit_status", "starting\ncannot allocate the frobnicator"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rec := func(name string) answer { return recorded(t, "debian-7.20.5/plain/"+name+".response.http") }
			answers := withMaster(t, demoURL, resigned(t, rec("002-scheduler"), tt.program), rec("006-scheduler"))
			answers[program] = []answer{{code: 200, body: []byte(tt.program)}}
			answers["in_1"] = []answer{rec("003-download-in_1")}
			answers[upload] = []answer{rec("005-upload")}
			w := newWorld(t, demoURL, answers, nil)
			w.configure(t, "watts_per_cpu = 3600\n")
			w.start(t)
			look := func() (all []control.HistoryTask) {
				testwait.Try(t, t.Context(), "the task to be reported", func() error {
					if all = w.history(t); len(all) == 1 && !all[0].Reported.IsZero() {
						return nil
					}
					must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
					return fmt.Errorf("the history has %+v", all)
				})
				return all
			}
			k := look()[0]
			if k.Outcome != tt.outcome || k.Code != tt.code || k.Stderr != tt.stderr || k.By != "" || k.Credit != nil {
				t.Errorf("got %+v", k)
			}
			if k.Project != demoURL || k.ProjectName == "" || k.App != "plain" || k.AppTitle == "" || k.AppVersion != 100 || k.Workunit == "" || k.Elapsed <= 0 {
				t.Errorf("got %+v", k)
			}
			if k.Received.IsZero() || k.Started.Before(k.Received) || k.Finished.Before(k.Started) || k.Reported.Before(k.Finished) || k.Deadline.IsZero() {
				t.Errorf("times: %+v", k)
			}
			s := w.after(t, 0)
			if a := s.Achieved; a == nil || a.Finished+a.Failed != 1 || (a.Failed == 1) != (tt.outcome == "failed") || a.CPUTime != k.CPUTime || a.Wh != k.Wh {
				t.Errorf("achieved: %+v", a)
			}
			if k.CPUTime > 0 && (k.Wh <= 0 || k.Wh > 2*k.CPUTime || s.Projects[0].Wh != k.Wh) { // by the stated power, 1 Wh a second
				t.Errorf("energy: %v Wh for %v s; of the project: %v Wh", k.Wh, k.CPUTime, s.Projects[0].Wh)
			}
			w.stop()
			old, err := api.OfflineHistory(t.Context(), w.dir, control.HistoryQuery{Task: k.Name})
			if err != nil || len(old.Tasks) != 1 || !old.Tasks[0].Reported.Equal(k.Reported) {
				t.Errorf("from the file: %+v, %v", old, err)
			}
			w.start(t)
			defer w.stop()
			if all := w.history(t); len(all) != 1 || all[0].Name != k.Name {
				t.Errorf("the next agent: %+v", all)
			}
		})
	}
}

// For an aborted task that never ran, the history has who aborted it.
func TestTasksThatWereAbortedAreInTheHistory(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the bubble's clock starts then
	held := func(change func(*state.Result)) func(*state.DB, *state.Tx) {
		return func(db *state.DB, tx *state.Tx) {
			r := state.Result{Project: demoURL, State: protocol.ClientDownloading, Slot: state.NoSlot, Received: midnight.Add(-time.Hour)}
			r.Name, r.WorkunitName, r.ReportDeadline = "r_0", "r", midnight.Add(30*24*time.Hour)
			change(&r)
			db.Units.Put(tx, state.Key(demoURL, "r"), state.Workunit{Project: demoURL, Workunit: protocol.Workunit{
				Name: "r", AppName: "app", FileRefs: []protocol.FileRef{{FileName: "in"}},
			}})
			db.Files.Put(tx, state.Key(demoURL, "in"), state.File{Project: demoURL, FileInfo: protocol.FileInfo{Name: "in"}, Retry: state.Retry{NextTry: midnight.Add(24 * time.Hour)}})
			db.Results.Put(tx, state.Key(demoURL, "r_0"), r)
			db.Projects.Put(tx, demoURL, state.Project{MasterURL: demoURL, Name: "Demo", SchedulerURLs: []string{demoURL + "cgi"}})
		}
	}
	reply := recorded(t, "debian-7.20.5/keys/006-scheduler.response.http")
	unwanted := reply
	unwanted.body = bytes.Replace(reply.body, []byte("</scheduler_reply>"), []byte("<result_abort>\n<name>r_0</name>\n</result_abort>\n</scheduler_reply>"), 1)
	for _, tt := range []struct {
		name   string
		reply  answer
		change func(*state.Result)
		do     func(t *testing.T, w *world) error
		by     string
		code   string
		exit   string
	}{
		{
			"by a person", reply, func(*state.Result) {},
			func(t *testing.T, w *world) error {
				return w.a.SteerTask(t.Context(), demoURL, "r_0", control.AbortTask)
			},
			"user", "aborted_by_user", "You aborted it.",
		},
		{
			"by the project", unwanted, func(*state.Result) {},
			func(*testing.T, *world) error { return nil },
			"project", "aborted_by_project", "The project no longer needs it and aborted it.",
		},
		{
			"by the agent", reply, func(r *state.Result) {
				r.State, r.ReportDeadline = protocol.ClientDownloaded, midnight.Add(-time.Minute)
			},
			func(*testing.T, *world) error { return nil },
			"agent", "not_started_by_deadline", "Its deadline passed before it was started.",
		},
		{
			"with its project", reply, func(*state.Result) {},
			func(t *testing.T, w *world) error {
				if err := w.a.SteerProject(t.Context(), demoURL, control.ResetProject); err != nil {
					return err
				}
				return w.a.SteerProject(t.Context(), demoURL, control.FinishProject)
			},
			"user", "aborted_by_user", "The project was detached or reset.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, demoURL, withMaster(t, demoURL, tt.reply), held(tt.change))
			w.run(func(t *testing.T) {
				w.after(t, time.Second)
				must(t, tt.do(t, w))
				w.after(t, 10*time.Minute)
				all := w.history(t)
				if len(all) != 1 {
					t.Fatalf("got %+v", all)
				}
				k := all[0]
				if k.Outcome != "aborted" || k.By != tt.by || k.Code != tt.code || k.Exit != tt.exit {
					t.Errorf("got %s by %s, %s, %q; want by %s, %s, %q", k.Outcome, k.By, k.Code, k.Exit, tt.by, tt.code, tt.exit)
				}
				if k.Name != "r_0" || k.App != "app" || k.ProjectName == "" || !k.Started.IsZero() || k.Finished.IsZero() {
					t.Errorf("got %+v", k)
				}
				if late := k.Late > 0; late != (tt.by == "agent") {
					t.Errorf("late by %v s", k.Late)
				}
			})
		})
	}
}

// What kept the computer from computing in the night, and for how long, is known in the
// morning, and when it was off.
func TestTheTimelineOfANight(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the bubble's clock starts then
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), func(db *state.DB, tx *state.Tx) {
		// An agent was killed at about ten, and last seen half a minute earlier.
		h := state.Host{CPID: strings.Repeat("c", 32), Fpops: 1e9 + 1, Iops: 1e9, LastSeen: midnight.Add(-2 * time.Hour)}
		db.Hosts.Put(tx, state.Self, h)
		db.AddSpans(tx, false, state.Span{Activity: state.Computing, Start: midnight.Add(-5 * time.Hour), Open: true})
	})
	_, east := midnight.Local().Zone()
	at := func(hour float64) float64 { return math.Mod(hour+float64(east)/3600+24, 24) }
	hours := fmt.Sprintf("start_hour = %v\nend_hour = %v\n", at(2), at(5))
	must(t, os.WriteFile(filepath.Join(w.dir, settings.PrefsFile), []byte(hours), 0o600))
	old, err := api.OfflineTimeline(t.Context(), w.dir, control.HistoryQuery{})
	if err != nil || len(old.Spans) != 1 || old.Spans[0].Open || !old.Spans[0].End.Equal(midnight.Add(-2*time.Hour)) {
		t.Errorf("before the start: %+v, %v", old, err)
	}
	w.run(func(t *testing.T) {
		w.after(t, 6*time.Hour)
		want := []string{
			"computing -5h0m0s--2h0m0s", "off killed -2h0m0s-0s",
			"suspended time_of_day 0s-2h0m0s", "waiting 2h0m0s-5h0m0s", "suspended time_of_day 5h0m0s-6h0m0s…",
		}
		if got := w.timeline(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		w.stop()
		time.Sleep(3 * time.Hour)
		w.start(t)
		w.after(t, 10*time.Minute)
		want[4] = "suspended time_of_day 5h0m0s-6h0m0s"
		want = append(want, "off stopped 6h0m0s-9h0m0s", "suspended time_of_day 9h0m0s-9h10m0s…")
		if got := w.timeline(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		page, err := w.a.Timeline(t.Context(), control.HistoryQuery{Since: midnight.Add(8 * time.Hour), Limit: 1})
		if err != nil || len(page.Spans) != 1 || page.Next == 0 || !strings.Contains(page.Spans[0].Why, "start_hour") {
			t.Errorf("first page: %+v, %v", page, err)
		}
		page, err = w.a.Timeline(t.Context(), control.HistoryQuery{Since: midnight.Add(8 * time.Hour), Before: page.Next})
		if err != nil || len(page.Spans) != 1 || page.Next != 0 || page.Spans[0].Code != "stopped" {
			t.Errorf("second page: %+v, %v", page, err)
		}
	})
}
