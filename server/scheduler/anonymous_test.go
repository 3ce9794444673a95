package scheduler_test

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

const ownVersion = "<app_version><app_name>upper</app_name><version_num>801</version_num><platform>" + linux + "</platform>" +
	"<plan_class>avx</plan_class><avg_ncpus>1.000000</avg_ncpus><flops>4000000000.000000</flops></app_version>"

// anonymous makes the request of a client one with programs of its volunteer's own.
func anonymous(versions string, changes ...string) []string {
	return append(changes, "<platform_name>"+linux+"</platform_name>", "<platform_name>anonymous</platform_name>",
		"<app_versions>\n</app_versions>", "<app_versions>"+versions+"</app_versions>")
}

func TestOwnProgramsGetWork(t *testing.T) {
	w := newWorld(t)
	w.s.Config.AnonymousPlatform = true
	w.addWork("a", 1)
	got := w.send(capture(t, "01-first-contact-with-work", anonymous(ownVersion)...))
	if len(got.Results) != 1 {
		t.Fatalf("got %s", texts(got))
	}
	if r := got.Results[0]; r.Platform != linux || r.VersionNum != 801 || r.PlanClass != "avx" {
		t.Errorf("result %+v, want the version that the client has", r)
	}
	if len(got.AppVersions) != 0 || len(got.Apps) != 0 || slices.ContainsFunc(got.Files, func(f protocol.FileInfo) bool { return f.Executable }) {
		t.Errorf("programs are sent: %+v, %+v, %+v", got.Apps, got.AppVersions, got.Files)
	}
	own := store.AnonymousVersion(w.App.ID, "")
	if x := w.result("a_0"); x.AppVersionID != own || x.VersionNum != 801 || x.HostID != got.HostID {
		t.Errorf("on record: %+v", x)
	}
	var h store.Host
	var earned []store.HostAppVersion
	w.update(func(tx *store.Tx) (err error) {
		if h, err = tx.Host(got.HostID); err != nil {
			return err
		}
		earned, err = tx.HostAppVersions(h.ID)
		return err
	})
	if h.Platforms != "anonymous anonymous:upper" {
		t.Errorf("platforms %q", h.Platforms)
	}
	if len(earned) != 1 || earned[0].AppVersionID != own || earned[0].NJobsToday != 1 || earned[0].BenchmarkFlops != 4e9 {
		t.Errorf("earned %+v", earned)
	}
}

// A client with its volunteer's own programs uses its own speed for them. The number of operations
// sent to it is scaled to make up for the difference to the speed that its results have shown
// since.
func TestOwnProgramsAreToldOperationsThatFit(t *testing.T) {
	w := newWorld(t)
	w.s.Config.AnonymousPlatform = true
	w.addWork("a", 1)
	first := w.send(capture(t, "01-first-contact-with-work", anonymous(ownVersion)...))
	w.update(func(tx *store.Tx) error {
		return tx.SaveHostAppVersion(store.HostAppVersion{
			HostID: first.HostID, AppVersionID: store.AnonymousVersion(w.App.ID, ""), Elapsed: speed.Average{N: speed.Enough, Mean: 1e-9}, BenchmarkFlops: 4e9,
		})
	})
	w.addWork("b", 1)
	w.s.Config.ResendLostResults = false
	w.now = w.now.Add(time.Hour)
	got := w.as(first.HostID, 1, "15-too-soon-asks-work", anonymous(ownVersion)...)
	if len(got.Results) != 1 {
		t.Fatalf("got %s", texts(got))
	}
	before, now := first.Workunits[0], got.Workunits[0]
	if math.Abs(now.RscFpopsEst/before.RscFpopsEst-4) > 1e-9 || math.Abs(now.RscFpopsBound/before.RscFpopsBound-4) > 1e-9 {
		t.Errorf("told %g of at most %g, before %g of at most %g; want four times as much", now.RscFpopsEst, now.RscFpopsBound, before.RscFpopsEst, before.RscFpopsBound)
	}
}

func TestOwnProgramsThatGetNothing(t *testing.T) {
	unknown := strings.ReplaceAll(ownVersion, "upper", "lower")
	for _, tt := range []struct {
		name, versions string
		accepts        bool
		want           string
		delay          time.Duration
	}{
		{"none that the project has", unknown, true, `Your app_info.xml names applications that this project does not have: "lower"`, 4 * time.Hour},
		{"none at all", "", true, "Your app_info.xml has no version of an application of this project", 4 * time.Hour},
		{"the project accepts none", ownVersion, false, "This project sends no tasks for programs of your own", 24 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.s.Config.AnonymousPlatform = tt.accepts
			w.addWork("a", 1)
			got := w.send(capture(t, "01-first-contact-with-work", anonymous(tt.versions)...))
			if len(got.Results) != 0 || !strings.Contains(texts(got), tt.want) || got.RequestDelay != tt.delay ||
				!slices.Equal(got.Refusals, []protocol.Refusal{{Code: protocol.RefusedAppInfo}}) {
				t.Errorf("got %d results, %v, %+v, %s", len(got.Results), got.RequestDelay, got.Refusals, texts(got))
			}
		})
	}
}

// A result that a volunteer's own program lost is sent to it again, but never to a program of the
// project. The record shows whose program computes it.
func TestOwnProgramsAreSentWhatTheyLost(t *testing.T) {
	w := newWorld(t)
	w.s.Config.AnonymousPlatform = true
	w.addWork("a", 1)
	host := w.send(capture(t, "01-first-contact-with-work", anonymous(ownVersion)...)).HostID
	w.now = w.now.Add(time.Hour)
	got := w.as(host, 1, "15-too-soon-asks-work", anonymous(ownVersion)...)
	if len(got.Results) != 1 || got.Results[0].VersionNum != 801 || len(got.AppVersions) != 0 {
		t.Fatalf("lost: got %+v, %s", got.Results, texts(got))
	}
	w.now = w.now.Add(time.Hour)
	if got := w.as(host, 2, "15-too-soon-asks-work"); len(got.Results) != 0 {
		t.Errorf("without own programs: got %+v", got.Results)
	}
	if x := w.result("a_0"); !x.ReportDeadline.Before(w.now) {
		t.Errorf("it is due at %v, want in the past, so that another is made", x.ReportDeadline)
	}
}

// The request of Debian's client with an app_info.xml.
func TestARealClientWithOwnPrograms(t *testing.T) {
	w := newWorld(t)
	w.s.Config.AnonymousPlatform = true
	w.addWork("a", 1)
	b, err := os.ReadFile("../../protocol/testdata/captures/debian-7.20.5/anonymous/001-scheduler.request.http")
	must(t, err)
	_, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	req, err := protocol.ParseSchedulerRequest(body)
	must(t, err)
	if len(req.AppVersions) != 3 || req.AppVersions[2].Coproc != "NVIDIA" || req.AppVersions[2].CoprocCount != 0.5 || req.AppVersions[0].Cmdline != "--fast" {
		t.Fatalf("versions %+v", req.AppVersions)
	}
	first, err := protocol.ParseSchedulerRequest(capture(t, "01-first-contact-with-work"))
	must(t, err)
	got := w.send(bytes.Replace(body, []byte(req.Authenticator), []byte(first.Authenticator), 1))
	if len(got.Results) != 1 || got.Results[0].VersionNum != 801 || got.Results[0].PlanClass != "avx" {
		t.Errorf("got %+v, %s; want the faster of two on the CPUs", got.Results, texts(got))
	}
}
