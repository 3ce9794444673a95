package sim_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/sim"
)

// The page is self-contained, shows every project and every CPU, and its drawings are well-formed.
func TestPage(t *testing.T) {
	s := load(t, "03-tight-deadlines")
	h := &sim.History{Sample: time.Hour}
	f := sim.Run(s, 1, 3, h)
	var b bytes.Buffer
	if err := h.Page(&b, s, 1, f); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, p := range s.Projects {
		if !strings.Contains(page, "<title>"+p.Name+"-0000") {
			t.Errorf("no task of %s is shown", p.Name)
		}
	}
	if outside := regexp.MustCompile(`(src|href)=|https?://|@import|url\(`).FindString(page); outside != "" {
		t.Errorf("the page refers to something outside: %s", outside)
	}
	drawings := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(drawings) != 6 {
		t.Errorf("%d drawings", len(drawings))
	}
	for _, d := range drawings {
		dec := xml.NewDecoder(strings.NewReader(d))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("a number is none")
	}
}

// reload writes a scenario to a file and loads it again.
func reload(t *testing.T, s sim.Scenario) sim.Scenario {
	t.Helper()
	text, err := s.TOML()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := sim.Load(path)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return again
}

func TestImportOfABOINCClient(t *testing.T) {
	src, err := os.ReadFile("../protocol/testdata/captures/app/data-dir/client_state.xml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := protocol.ParseClientState(src)
	if err != nil {
		t.Fatal(err)
	}
	s := reload(t, sim.FromBOINC("mine", f, prefs.Default()))
	if len(s.Projects) != 1 || s.Host.NCPUs != 2 || s.Projects[0].Jobs.FlopsEst != 5e11 || s.Projects[0].Share != 100 {
		t.Errorf("got %+v", s)
	}
	if got := sim.Run(s, 1, 2, nil); got.Idle > 0.01 || got.Met == 0 {
		t.Errorf("played: %+v", got)
	}
}

func TestImportOfAnAgent(t *testing.T) {
	s := reload(t, sim.FromSnapshot("mine", decide.Snapshot{
		CPUs: 4, Memory: 8 << 30, OnFrac: 1.0 / 3, Low: time.Hour, High: 5 * time.Hour, Slice: time.Hour,
		Projects: []decide.Project{
			{URL: "https://a.example/x/", Share: 100, JobTime: 2 * time.Hour, Latency: 48 * time.Hour, Estimates: jobsched.Estimator{Results: 3, Ratio: 1.5}},
			{URL: "http://a.example/x/", Share: 0},
			{URL: "https://gone.example/", Share: 100, Suspended: true},
		},
	}))
	if len(s.Projects) != 2 || s.Projects[0].Name == s.Projects[1].Name || s.Host.On.Kind != "daily" || s.Host.On.ToH-s.Host.On.FromH != 8 {
		t.Fatalf("got %+v", s)
	}
	if j := s.Projects[0].Jobs; j.FlopsActualMean != 1.5*j.FlopsEst || j.LatencyBoundH != 48 {
		t.Errorf("got %+v", j)
	}
	if got := sim.Run(s, 1, 2, nil); got.Idle > 0.05 {
		t.Errorf("played: %+v", got)
	}
}
