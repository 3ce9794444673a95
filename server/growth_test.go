package server_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testprogram"
)

var growth = flag.Bool("bench.growth", false, "run BenchmarkGrowth")

// asks is the number of times that each page and command is measured.
const asks = 5

// sitePages are the pages for volunteers and other projects' programs, below the project's address.
var sitePages = []string{
	"", "status", "server_status.php", "leaders", "leaders?of=computers", "leaders?of=teams", "teams", "computers?user=1", "user?id=1",
	"computer?id=1", "task?id=%d", "news", "get_project_config.php",
}

// operatorPages are the operator's pages.
var operatorPages = []string{
	"", "batches", "works", "works?state=error", "works?state=unfinished", "works?app=upper", "works?host=1", "results", "results?outcome=client_error",
	"results?state=unsent", "results?host=1", "results?user=1", "results?validate-state=invalid", "works?older-than=1000d", "works?host=99999", "results?batch=9", "results?host=99999",
	"results?state=in_progress", "apps", "versions", "hosts", "users", "tokens", "audit",
	"work/%d", "result/%d", "host/1", "user/1", "metrics",
}

// commands are the operator's commands. DIR is the project.
var commands = []string{
	"status", "work list", "work list --state error", "work list --host 1", "result list", "result list --outcome client_error", "result list --user 1",
	"host list", "host show 1", "user list", "batch list", "app list", "version list", "audit",
}

// BenchmarkGrowth prints the times that pages and commands take when the database is large, see
// -bench.finished. It uses SQLite, and no result fits in the cache when the server starts.
func BenchmarkGrowth(b *testing.B) {
	if !*growth {
		b.Skip("make growth runs it")
	}
	bin := filepath.Join(b.TempDir(), "starling-server")
	if err := testprogram.Build(b.Context(), filepath.Dir(bin), nil, "cmd/starling-server"); err != nil {
		b.Fatal(err)
	}
	x := newBench(b)
	x.hosts = clients
	began := time.Now()
	x.fill()
	x.create(upper, 2*clients, 1)
	x.settle()
	x.play(2*clients, 1) // makes the computers
	x.settle()
	editSettings(b, x.p.Dir, `admin_listen = ""`, `admin_listen = "127.0.0.1:0"`)
	last := *backlog + *finished
	file := filepath.Join(x.p.Dir, "project.db")
	fmt.Printf("\n%d finished results, %d waiting, %.1f GB, filled in %v\n\n", *finished, *backlog, size(b, file)/1e9, time.Since(began).Round(time.Second))

	uncache(b, file)
	began = time.Now()
	port, err := testhost.FreePort()
	x.check(err)
	admin := fmt.Sprintf("127.0.0.1:%d", port)
	srv, err := testhost.Start(x.p.Dir+".log", bin, "serve", x.p.Dir, "--admin-listen", admin)
	x.check(err)
	b.Cleanup(srv.Kill) // if a page fails
	x.await(srv, x.p.Config.ListenAddr())
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, times []time.Duration) {
		slices.Sort(times[1:])
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t\n", name, float64(times[0].Microseconds())/1e3, float64(times[1+len(times[1:])/2].Microseconds())/1e3)
	}
	fmt.Fprintf(w, "ms\tfirst\tthen\t\n")
	row("start of the server until the first answer", []time.Duration{time.Since(began), 0})
	client := signedIn(x, bin, admin)
	page := func(name, address string) {
		if strings.Contains(address, "%d") {
			address, name = fmt.Sprintf(address, last), fmt.Sprintf(name, last)
		}
		row(name, repeatedly(func() { get(b, client, address) }))
	}
	for _, p := range sitePages {
		page("site: /"+p, x.p.Config.MasterURL+p)
	}
	for _, p := range operatorPages {
		page("operator: /"+p, "http://"+admin+"/"+p)
	}
	for _, c := range commands {
		row("starling-server "+c, repeatedly(func() {
			args := strings.Fields(c)
			at := min(len(args), 2)
			if i := slices.IndexFunc(args, func(s string) bool { return strings.HasPrefix(s, "--") }); i >= 0 {
				at = i
			}
			if args[0] == "status" || args[0] == "audit" {
				at = 1
			}
			out, err := exec.CommandContext(b.Context(), bin, slices.Insert(args, at, x.p.Dir)...).CombinedOutput()
			if err != nil {
				b.Fatalf("%s: %v: %s", c, err, out)
			}
		}))
	}
	x.check(w.Flush())
	x.check(srv.Stop(testhost.Grace))
}

// repeatedly returns the duration of each call.
func repeatedly(call func()) (times []time.Duration) {
	for range asks {
		began := time.Now()
		call()
		times = append(times, time.Since(began))
	}
	return times
}

func get(tb testing.TB, c *http.Client, address string) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, address, nil)
	if err != nil {
		tb.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %s, %v\n%.500s", address, resp.Status, err, text)
	}
}

// signedIn returns a client that is signed in to the operator's pages.
func signedIn(x *bench, bin, admin string) *http.Client {
	x.tb.Helper()
	jar, err := cookiejar.New(nil)
	x.check(err)
	c := &http.Client{Jar: jar, Timeout: 10 * time.Minute}
	out, err := exec.CommandContext(x.tb.Context(), bin, "admin", x.p.Dir, "--admin-listen", admin).Output()
	x.check(err)
	link, err := url.Parse(strings.TrimSpace(string(out)))
	x.check(err)
	req, err := http.NewRequestWithContext(context.WithoutCancel(x.tb.Context()), http.MethodPost, "http://"+admin+"/enter", strings.NewReader(link.RawQuery))
	x.check(err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.Do(req)
	x.check(err)
	_ = resp.Body.Close()
	return c
}

func size(tb testing.TB, file string) float64 {
	tb.Helper()
	info, err := os.Stat(file)
	if err != nil {
		tb.Fatal(err)
	}
	return float64(info.Size())
}
