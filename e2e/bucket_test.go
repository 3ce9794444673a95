package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/tests3"
)

// TestOutageOfTheBucket takes the service with the project's files away while one computer has an
// output to upload and another one inputs to download. Both resume without help.
func TestOutageOfTheBucket(t *testing.T) {
	onDemand(t, "STARLING_OUTAGE_MINUTES", "outage")
	minutes, err := strconv.ParseFloat(os.Getenv("STARLING_OUTAGE_MINUTES"), 64)
	must(t, err)
	outage := time.Duration(minutes * float64(time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), outage+6*time.Hour) // transfers wait at most hours
	defer cancel()
	s3 := tests3.Start(t)
	port := freePort(t)
	p := &testhost.Project{Bin: bin, Dir: filepath.Join(t.TempDir(), "project"), URL: "http://127.0.0.1:" + strconv.Itoa(port) + "/bucket/"}
	run(t, ctx, p, "init", p.Dir, "--name", "bucket", "--url", p.URL, "--files", s3.Bucket(t))
	p.Key = strings.TrimSpace(run(t, ctx, p, "user", "add", p.Dir, "--email", testhost.Email, "--password", testhost.Password))
	publish(t, ctx, p, "mersenne", "--main", bin.Path(testhost.Mersenne))
	exponents := []int{1279, 110503}
	work(t, ctx, p, 2, exponents...)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "the long task to run", func(s control.Status) bool {
		return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].Name == "m110503_0"
	})
	s3.Stop()
	began := time.Now()
	late := newAgent(t, "late")
	startAgent(t, ctx, late, p)
	s := await(t, ctx, a, "the upload to fail", func(s control.Status) bool {
		return len(s.Tasks) > 0 && s.Tasks[0].State == "uploading" && s.Tasks[0].Cure != ""
	})
	t.Logf("upload: %s %s", s.Tasks[0].Why, s.Tasks[0].Cure)
	s = await(t, ctx, late, "the download to fail", func(s control.Status) bool { return len(s.Tasks) > 0 && s.Tasks[0].Cure != "" })
	t.Logf("download: %s %s", s.Tasks[0].Why, s.Tasks[0].Cure)
	select {
	case <-time.After(time.Until(began.Add(outage))):
	case <-ctx.Done():
	}
	s3.Restart(t)
	back := time.Now()
	creditedOnce(t, ctx, p, 2, exponents...)
	t.Logf("away for %v, everything finished %v later", back.Sub(began).Round(time.Second), time.Since(back).Round(time.Second))
}
