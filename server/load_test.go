package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/load"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// The load generator's figures match the database, for hosts of several platforms on one server.
func TestLoad(t *testing.T) {
	t.Parallel()
	for _, upload := range []bool{false, true} {
		t.Run(fmt.Sprint("upload ", upload), func(t *testing.T) { playLoad(t, upload) })
	}
}

func playLoad(t *testing.T, upload bool) {
	const workunits, hosts = 300, 12
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "p")}
	srv := httptest.NewUnstartedServer(nil)
	url := fmt.Sprintf("http://%s/load/", srv.Listener.Addr())
	w.must(operate.Init(t.Context(), w.dir, operate.NewProject{Name: "Load", MasterURL: url}))
	w.edit("min_sendwork_interval = 6", "min_sendwork_interval = 0", "daily_result_quota = 100", "daily_result_quota = 0")
	var err error
	w.p, err = project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	w.must(err)
	defer w.p.Close()
	var h http.Handler
	h, err = server.New(w.p, server.Part{}).Handler(func() {})
	w.must(err)
	srv.Config.Handler = h
	srv.Start()
	defer srv.Close()
	w.setUp() // for Linux
	w.must(operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "upper", Platform: "windows_x86_64", Number: "2.00", Main: w.file("upper.exe", "MZ\x00"),
	}, w.now()))
	g, err := operate.Generator(t.Context(), w.p, "upper", w.now())
	w.must(err)
	_, err = g.Create(t.Context(), make([]workgen.Spec, workunits), w.now())
	w.must(err)
	w.step()

	mix, err := load.ParseMix("windows=1,linux=1,linux-arm64=1")
	w.must(err)
	r, err := load.Run(t.Context(), load.Config{
		URL: url, Key: w.user("a@example.org"), Hosts: hosts, Connections: 4, Jobs: 3, Mix: mix, Duration: testwait.Patience, Timeout: testwait.Patience,
		KeepAlive: true, Requests: 150, Upload: upload, UploadBytes: 200,
	})
	w.must(err)
	w.step()
	st := w.status()
	n, reported := r.Tasks(), r.Registration.Reported+r.Measured.Reported+r.Settling.Reported
	if n < 100 || reported != n || r.Unreported != 0 || r.Refused != 0 || len(r.Measured.Errors) > 0 {
		t.Errorf("%d dispatched, %d reported, %d unreported, %d hosts refused, errors %v", n, reported, r.Unreported, r.Refused, r.Measured.Errors)
	}
	if st.Hosts != hosts || st.Results.ByServerState[store.InProgress.String()] != 0 {
		t.Errorf("%d hosts, want %d; results %v", st.Hosts, hosts, st.Results.ByServerState)
	}
	outcome := store.Success
	if !upload { // a validator finds no output
		outcome = store.ValidateError
	}
	if got := st.Results.ByOutcome[outcome.String()]; got != n || len(st.Results.ByOutcome) != 1 {
		t.Errorf("outcomes %v, want %d × %v", st.Results.ByOutcome, n, outcome)
	}
	if want := map[bool]int64{true: n}[upload]; st.Workunits.Assimilated != want || r.Registration.Uploaded+r.Measured.Uploaded != want {
		t.Errorf("%d assimilated, %d uploaded, want %d", st.Workunits.Assimilated, r.Registration.Uploaded+r.Measured.Uploaded, want)
	}
	// The project has no program for a third of the hosts, which ask twice before the measurement.
	if got := r.Registration.Refused["platform"]; got != 2*hosts/3 || len(r.Registration.Refused) != 1 {
		t.Errorf("refused: %v, want %d × platform", r.Registration.Refused, 2*hosts/3)
	}
}
