package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const ownInfo = `<app_info>
  <app><name>upper</name></app>
  <file_info><name>mine</name><executable/></file_info>
  <app_version>
    <app_name>upper</app_name>
    <version_num>801</version_num>
    <plan_class>avx</plan_class>
    <flops>4e9</flops>
    <file_ref><file_name>mine</file_name><open_name>worker</open_name><copy_file/><main_program/></file_ref>
  </app_version>
</app_info>
`

// ownWorld returns a world whose volunteer has their own program. The project sends a task for it,
// its own program, and an input that cannot be downloaded, so the task waits.
func ownWorld(t *testing.T) *world {
	platform, _ := hostinfo.Platform()
	r := protocol.SchedulerReply{HostID: 7, ProjectName: "Demo", RequestDelay: 30 * time.Second, NoRscApps: []string{"CPU"}}
	r.Apps = []protocol.App{{Name: "upper", UserFriendlyName: "Upper"}}
	r.Files = []protocol.FileInfo{
		{Name: "in_1", NBytes: 5, MD5: md5Hello, DownloadURLs: []string{demoURL + "download/in_1"}},
		{Name: "mine", NBytes: 3, MD5: md5Hello, DownloadURLs: []string{demoURL + "download/mine"}},
		{Name: "theirs", NBytes: 3, Executable: true, Signature: "00\n.\n", DownloadURLs: []string{demoURL + "download/theirs"}},
	}
	r.AppVersions = []protocol.AppVersion{{AppName: "upper", VersionNum: 900, Platform: platform, FileRefs: []protocol.FileRef{{FileName: "theirs", MainProgram: true}}}}
	r.Workunits = []protocol.Workunit{{Name: "w", AppName: "upper", RscFpopsEst: 1e9, RscFpopsBound: 1e15, FileRefs: []protocol.FileRef{{FileName: "in_1", OpenName: "in"}}}}
	r.Results = []protocol.Result{{Name: "w_0", WorkunitName: "w", Platform: platform, VersionNum: 801, PlanClass: "avx", ReportDeadline: time.Now().Add(1000 * 24 * time.Hour)}}
	none := protocol.SchedulerReply{RequestDelay: 30 * time.Second, ResultAcks: []string{"w_0"}}
	answers := withMaster(t, demoURL, answer{code: 200, body: r.Encode()}, answer{code: 200, body: none.Encode()})
	answers["in_1"] = []answer{{code: 503}}
	w := newWorld(t, demoURL, answers, nil)
	w.file("mine", "#!/bin/sh\n")
	w.file("app_info.xml", ownInfo)
	w.runnable("mine")
	return w
}

func (w *world) folder(name string) string {
	return filepath.Join(w.dir, "projects", protocol.EscapeURL(w.url), name)
}

func (w *world) runnable(name string) {
	w.t.Helper()
	if err := os.Chmod(w.folder(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// A volunteer's own program computes the tasks: requests name it alone, and it is not
// replaced, fetched or removed.
func TestOwnPrograms(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.run(func(t *testing.T) {
		s := w.after(t, 10*time.Second)
		if len(s.Tasks) != 1 || s.Tasks[0].State != "downloading" || s.Complaints != nil {
			t.Fatalf("tasks %+v, complaints %q", s.Tasks, s.Complaints)
		}
		if own := s.Projects[0].Own; len(own) != 1 || !strings.Contains(own[0], "8.01") {
			t.Errorf("own programs %q", own)
		}
		if w.count("mine") != 0 || w.count("theirs") != 0 || w.lies("theirs") {
			t.Errorf("fetched mine %d times, theirs %d times", w.count("mine"), w.count("theirs"))
		}
		tools, err := w.a.Tools(t.Context())
		must(t, err)
		if p := tools.Projects[0]; !p.Anonymous || len(p.Versions) != 1 || p.Versions[0].VersionNum != 801 {
			t.Errorf("to tools: %v, %+v", p.Anonymous, p.Versions)
		}
	})
	req := w.request(t, 0)
	if req.Platform != "anonymous" || len(req.AltPlatforms) != 0 || len(req.AppVersions) != 1 {
		t.Fatalf("the request: platform %q, %q, %+v", req.Platform, req.AltPlatforms, req.AppVersions)
	}
	platform, _ := hostinfo.Platform()
	if v := req.AppVersions[0]; v.AppName != "upper" || v.VersionNum != 801 || v.PlanClass != "avx" || v.Platform != platform || v.Flops != 4e9 || v.AvgNCPUs != 1 {
		t.Errorf("the version: %+v", v)
	}
	if b, err := os.ReadFile(w.folder("mine")); string(b) != "#!/bin/sh\n" || err != nil {
		t.Errorf("the program is now %q, %v", b, err)
	}
	db, err := state.OpenReadOnly(filepath.Join(w.dir, "state.db"))
	must(t, err)
	defer db.Close()
	p, _ := db.Projects.Get(demoURL)
	f, _ := db.Files.Get(state.Key(demoURL, "mine"))
	if !p.Anonymous || len(p.NoRscApps) != 0 || !f.Own || f.Local != state.FilePresent {
		t.Errorf("on record: %v, %v, %+v", p.Anonymous, p.NoRscApps, f)
	}
}

// A task whose version is removed is aborted and reported with the reason. Files stay.
func TestOwnProgramsThatGo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, info, want string
		anonymous        bool
	}{
		{"the file is removed", "", "app_info.xml was removed", false},
		{"another version is described", strings.Replace(ownInfo, "801", "802", 1), "app_info.xml has no version 8.01 of upper", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ownWorld(t)
			w.run(func(t *testing.T) {
				w.after(t, 10*time.Second)
				if tt.info != "" {
					w.file("app_info.xml", tt.info)
				} else if err := os.Remove(w.folder("app_info.xml")); err != nil {
					t.Fatal(err)
				}
				if s := w.after(t, time.Hour); len(s.Tasks) != 1 || s.Tasks[0].Ready {
					t.Fatalf("before a person asks: %+v", s.Tasks)
				}
				must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
				if s := w.after(t, time.Hour); len(s.Tasks) != 0 || (s.Projects[0].Own != nil) != tt.anonymous {
					t.Errorf("tasks %+v, own %q", s.Tasks, s.Projects[0].Own)
				}
			})
			reports := w.reports()
			if len(reports) == 0 {
				t.Fatal("nothing was reported")
			}
			if r := reports[0].Results[0]; r.State != protocol.ClientAborted || !strings.Contains(r.StderrOut, tt.want) {
				t.Errorf("reported %v, %q; want %q", r.State, r.StderrOut, tt.want)
			}
			if got := reports[0].Platform == "anonymous"; got != tt.anonymous {
				t.Errorf("the request is anonymous: %v", got)
			}
			if !w.lies("mine") {
				t.Error("the volunteer's program was removed")
			}
		})
	}
}

// A mistake changes nothing, and is reported with the line and the remedy.
func TestASlipInAppInfo(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.run(func(t *testing.T) {
		w.after(t, 10*time.Second)
		w.file("app_info.xml", strings.Replace(ownInfo, "<main_program/>", "", 1))
		must(t, w.a.ReloadSettings(t.Context()))
		s := w.after(t, time.Minute)
		if len(s.Tasks) != 1 || s.Tasks[0].Ready || len(s.Projects[0].Own) != 1 {
			t.Errorf("after the slip: %+v, %q", s.Tasks, s.Projects[0].Own)
		}
		want := "app_info.xml: line 4: a version of upper has no program; write <main_program/> into the <file_ref> of its program"
		if !slices.ContainsFunc(s.Complaints, func(c string) bool { return strings.HasSuffix(c, want) }) {
			t.Errorf("complaints %q, want %q", s.Complaints, want)
		}
		w.file("app_info.xml", ownInfo)
		must(t, w.a.ReloadSettings(t.Context()))
		if s := w.after(t, time.Minute); s.Complaints != nil || len(s.Tasks) != 1 {
			t.Errorf("after it was mended: %q, %+v", s.Complaints, s.Tasks)
		}
	})
}

// All versions that are described stay, older ones too, and a program that is gone fails its
// task with a reason.
func TestOwnProgramsThatAreMissing(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	older := strings.NewReplacer("801", "700", "<app_info>", "", "</app_info>", "").Replace(ownInfo)
	w.file("app_info.xml", strings.Replace(ownInfo, "</app_info>", older[strings.Index(older, "  <app_version>"):]+"</app_info>", 1))
	w.run(func(t *testing.T) {
		if s := w.after(t, 10*time.Minute); len(s.Projects[0].Own) != 2 || len(s.Tasks) != 1 {
			t.Fatalf("own %q, tasks %+v", s.Projects[0].Own, s.Tasks)
		}
	})
	must(t, os.Remove(w.folder("mine")))
	w.answers["in_1"] = []answer{{code: 200, body: []byte("hello")}}
	w.run(func(t *testing.T) {
		s := w.after(t, 24*time.Hour)
		if !slices.ContainsFunc(s.Complaints, func(c string) bool { return strings.Contains(c, "line 3: file mine is not there; put it into") }) {
			t.Errorf("complaints %q", s.Complaints)
		}
	})
	reports := w.reports()
	if len(reports) == 0 {
		t.Fatal("nothing was reported")
	}
	if r := reports[0].Results[0]; r.State != protocol.ClientComputeError || !strings.Contains(r.StderrOut, "your file mine (app_info.xml)") {
		t.Errorf("reported %v, %q", r.State, r.StderrOut)
	}
	if w.count("mine") != 0 {
		t.Error("the program was looked for on the server")
	}
}

// If a project is reset or detached, its files are removed, but not the volunteer's.
func TestOwnProgramsOutlastTheProject(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(ctx context.Context, w *world) error{
		"reset": func(ctx context.Context, w *world) error {
			return w.a.SteerProject(ctx, demoURL, control.ResetProject)
		},
		"detached": func(ctx context.Context, w *world) error { return w.a.Detach(ctx, demoURL) },
	} {
		t.Run(name, func(t *testing.T) {
			w := ownWorld(t)
			w.file("in_1", "hel")
			w.run(func(t *testing.T) {
				w.after(t, 10*time.Second)
				must(t, leave(t.Context(), w))
				s := w.after(t, 10*time.Minute)
				if name == "detached" {
					if len(s.Projects) != 0 {
						t.Errorf("projects %+v", s.Projects)
					}
					return
				}
				if len(s.Projects) != 1 || len(s.Projects[0].Own) != 1 || len(s.Tasks) != 0 {
					t.Errorf("after a reset: %+v, %+v", s.Projects, s.Tasks)
				}
			})
			if !w.lies("mine") || !w.lies("app_info.xml") {
				t.Error("the volunteer's files are gone")
			}
			if w.lies("in_1") {
				t.Error("a file of the project is still there")
			}
		})
	}
}
