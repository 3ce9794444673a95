package doctor

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

func of(t *testing.T, all []Finding, check string) Finding {
	t.Helper()
	for _, f := range all {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", check, all)
	return Finding{}
}

func TestServers(t *testing.T) {
	good := httptest.NewServer(http.NotFoundHandler())
	defer good.Close()
	fine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html><!-- <scheduler>http://p.example/cgi</scheduler> --></html>")
	}))
	defer fine.Close()
	portal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome to the hotel</html>") }))
	defer portal.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	down := httptest.NewServer(nil)
	down.Close()
	ahead := func() time.Time { return time.Now().Add(time.Hour) }
	for _, c := range []struct {
		url, check, text, fix string
		grade                 Grade
		now                   func() time.Time
		proxy                 string
	}{
		{fine.URL, fine.URL, "names its scheduler", "", Good, time.Now, ""},
		{"http://project.example/", "http://project.example/", "The proxy " + down.Listener.Addr().String(), "HTTP_PROXY", Wrong, time.Now, down.URL},
		{fine.URL, "clock", "by 1 h from", "NTP", Wrong, ahead, ""},
		{good.URL, good.URL, "404", "its address", Wrong, time.Now, ""},
		{untrusted.URL, untrusted.URL, "not trusted", "ca-certificates", Wrong, time.Now, ""},
		{down.URL, down.URL, "refuses connections", "starling update", Wrong, time.Now, ""},
		{portal.URL, portal.URL, "login page", "browser", Wrong, time.Now, ""},
	} {
		way, err := httpclient.Transport(c.proxy, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := of(t, server(t.Context(), way, c.url, c.now), c.check)
		if f.Grade != c.grade || !strings.Contains(f.Text.String(), c.text) || !strings.Contains(f.Fix.String(), c.fix) {
			t.Errorf("%s: %+v", c.url, f)
		}
	}
}

// TestWhatProjectsSayIsJudged: a server that answers may refuse all the same.
func TestWhatProjectsSayIsJudged(t *testing.T) {
	p := control.Project{MasterURL: "http://p.example/", TroubleCode: "account_key_refused", Trouble: "The project rejects the account key.", TroubleCure: "Attach again."}
	fine := []Finding{{Check: p.MasterURL, Grade: Good}}
	if f := of(t, said(p, fine), p.MasterURL); f.Grade != Wrong || f.Text.String() != p.Trouble || f.Fix.String() != p.TroubleCure {
		t.Errorf("%+v", f)
	}
	if all := said(p, []Finding{{Check: p.MasterURL, Grade: Wrong}}); len(all) > 0 {
		t.Errorf("said twice: %+v", all)
	}
	failing := control.Project{MasterURL: p.MasterURL, Failing: &control.Failing{Text: "The last task failed: w1_0.", Cure: "Look.", Stderr: "one\ntwo"}}
	if f := of(t, said(failing, fine), p.MasterURL); f.Grade != Wrong || !strings.Contains(f.Text.String(), "w1_0") || !strings.Contains(f.Text.String(), "one | two") || !f.Fix.Is() {
		t.Errorf("%+v", f)
	}
	if all := said(control.Project{MasterURL: p.MasterURL}, fine); len(all) > 0 {
		t.Errorf("without reason: %+v", all)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := l.Addr().(*net.TCPAddr).Port
	if f := port(t.Context(), n, false); f.Grade != Wrong || !strings.Contains(f.Fix.String(), "gui_rpc_port") {
		t.Errorf("%+v", f)
	}
	if f := port(t.Context(), n, true); f.Grade != Good {
		t.Errorf("the agent's own: %+v", f)
	}
}

func TestHowTasksAreConfined(t *testing.T) {
	for _, c := range []struct {
		got   Finding
		grade Grade
		text  string
	}{
		{box(false), Note, "turned off"},
		{groups(""), Note, "checks every few seconds"},
		{groups("processes memory"), Good, "control groups: processes memory"},
	} {
		if c.got.Grade != c.grade || !strings.Contains(c.got.Text.String(), c.text) || c.got.Grade == Note && !c.got.Fix.Is() {
			t.Errorf("got %+v, want %s: %s", c.got, c.grade, c.text)
		}
	}
}

func TestWhatRunsVirtualMachines(t *testing.T) {
	for _, c := range []struct {
		status control.Status
		want   []string
	}{
		{control.Status{Virtualization: []string{"VirtualBox 7.0.20", "Podman 4.3.1"}}, []string{"ok VirtualBox 7.0.20, Podman 4.3.1"}},
		{control.Status{Virtualization: []string{"VirtualBox 7.0.20"}, VirtualizationFaults: []string{"Podman is broken"}}, []string{"ok VirtualBox 7.0.20", "note Podman is broken"}},
		{control.Status{}, []string{"note neither"}},
	} {
		got := virtualization(c.status)
		for i, want := range c.want {
			if len(got) != len(c.want) || !strings.HasPrefix(string(got[i].Grade)+" "+got[i].Text.String(), want) || got[i].Grade == Note && !got[i].Fix.Is() {
				t.Errorf("got %+v, want %v", got, c.want)
			}
		}
	}
}

// none finds no coprocessors.
func none(context.Context) gpus.Report { return gpus.Report{} }

func TestExamine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, settings.File), []byte("gui_rpc_port = 0\nloglevel = \"info\"\nncpus = 5000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, settings.PrefsFile), []byte("max_cpus = \"2\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := Examine(t.Context(), dir, none, nil)
	if f := of(t, all, "settings"); f.Grade != Wrong || !strings.Contains(f.Text.String(), "starling.toml:2") || !strings.Contains(f.Text.String(), "prefs.toml:1") {
		t.Errorf("%+v", f)
	}
	if f := of(t, all, "CPUs"); f.Grade != Note || !f.Fix.Is() {
		t.Errorf("%+v", f)
	}
	if f := of(t, all, "data directory"); f.Grade != Good {
		t.Errorf("%+v", f)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	own := &Tools{Port: l.Addr().(*net.TCPAddr).Port} // of the command line, and taken by another program
	if f := of(t, Examine(t.Context(), dir, none, own), "port for BOINC's tools"); f.Grade != Wrong {
		t.Errorf("the port of the command line: %+v", f)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("something was left behind: %v, %v", entries, err)
	}
	if f := of(t, Examine(t.Context(), filepath.Join(dir, settings.File), none, nil), "data directory"); f.Grade != Wrong {
		t.Errorf("a file for a folder: %+v", f)
	}
}

func TestADamagedStateIsFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	db, err := state.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	find := func() Finding {
		for _, f := range Examine(t.Context(), dir, none, nil) {
			if f.Check == "state" {
				return f
			}
		}
		return Finding{}
	}
	if f := find(); f.Grade != Good {
		t.Errorf("got %+v", f)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("noise"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := find(); f.Grade != Wrong || !f.Fix.Is() {
		t.Errorf("got %+v", f)
	}
}

func TestWhetherImagesRun(t *testing.T) {
	if got := images(control.Status{}, gpus.Set{}); got != nil {
		t.Errorf("on a system without images: %+v", got)
	}
	if got := images(control.Status{Images: true}, gpus.Set{Groups: []gpus.Group{{Kind: "fake"}}}); len(got) != 1 || got[0].Grade != Good {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat("/dev/nvidiactl"); err != nil {
		got := images(control.Status{Images: true}, gpus.Set{Groups: []gpus.Group{{Kind: resource.NVIDIA}}})
		if len(got) != 2 || got[1].Grade != Note || !strings.Contains(got[1].Text.String(), "has no /dev/nvidia0") || !got[1].Fix.Is() {
			t.Errorf("got %+v", got)
		}
	}
	got := images(control.Status{ImagesFault: "operation not permitted. This system does not allow it.", ImagesCure: "allow it"}, gpus.Set{})
	if len(got) != 1 || got[0].Grade != Note || got[0].Text.String() != "cannot run: operation not permitted. This system does not allow it" || got[0].Fix.String() != "allow it; then restart the agent" {
		t.Errorf("got %+v", got)
	}
}

func TestWhatWakesTheComputer(t *testing.T) {
	for want, by := range map[string]map[string]float64{
		"not known in the first minute":                           nil,
		"13.5 a minute: settings 12.0, sensors 1.1, a 0.2, b 0.2": {"b": 0.2, "settings": 12, "a": 0.2, "sensors": 1.1},
	} {
		if f := wakeups(by); f.Text.String() != want || f.Grade != Info {
			t.Errorf("%v: %+v", by, f)
		}
	}
}
