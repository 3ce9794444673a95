package e2e_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
)

// A front is a front end of a project's scheduler that records requests and replies.
type front struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string
	replies  []string // the replies to requests
}

func newFront(t *testing.T, p *testhost.Project) *front {
	t.Helper()
	to, err := url.Parse(p.URL + "cgi")
	must(t, err)
	f := &front{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL, r.Out.Host = to, to.Host }}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		r.Header.Del("Accept-Encoding")
		rec := httptest.NewRecorder()
		proxy.ServeHTTP(rec, r)
		f.mu.Lock()
		f.requests, f.replies = append(f.requests, string(b)), append(f.replies, rec.Body.String())
		f.mu.Unlock()
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	t.Cleanup(f.Close)
	return f
}

// serves makes a project's master page name this front, after others, as its scheduler.
func (f *front) serves(t *testing.T, p *testhost.Project, others ...string) {
	t.Helper()
	settings := filepath.Join(p.Dir, "server.toml")
	b, err := os.ReadFile(settings)
	must(t, err)
	var urls []string
	for _, at := range append(others, f.URL) {
		urls = append(urls, strconv.Quote(at+"/cgi"))
	}
	must(t, os.WriteFile(settings, []byte(strings.Replace(string(b), "scheduler_urls = []", "scheduler_urls = ["+strings.Join(urls, ", ")+"]", 1)), 0o600))
}

// report returns the request in which a client of a major version reported its first result, or ""
// if there is none.
func (f *front) report(major string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := slices.IndexFunc(f.requests, func(s string) bool {
		return strings.Contains(s, "<final_cpu_time>") && strings.Contains(s, "<core_client_major_version>"+major+"<")
	})
	if n < 0 {
		return ""
	}
	return f.requests[n]
}

// Fields of a request that may differ between Starling's agent and BOINC's client on the same
// computer, and the reasons.
var mayDiffer = map[string]string{
	"authenticator": "each has an account's key; they may be the same", "hostid": "two hosts", "rpc_seqno": "of a host",
	"core_client_minor_version": "the agent follows a later version", "core_client_major_version": "the agent follows a later version", "core_client_release": "the agent follows a later version",
	"core_client_version": "the agent follows a later version", "app_version": "the number of the version in the list", "host_cpid": "random",
	"p_fpops": "measured by other loops, and not at all by the client in tests", "p_iops": "likewise", "p_calculated": "when that was",
	"d_free": "changes meanwhile", "d_boinc_used_total": "the client's own files count", "d_boinc_used_project": "the files of the client's slot are others", "d_project_share": "follows from these",
	"bwup": "measured", "bwdown": "measured", "avg_up": "measured", "avg_down": "measured", "avg_time_up": "when", "avg_time_down": "when",
	"work_req_seconds": "what each is short of", "cpu_req_secs": "likewise", "cpu_req_instances": "likewise", "estimated_delay": "likewise", "duration_correction_factor": "the agent learns otherwise",
	"on_frac": "uptime", "active_frac": "uptime", "gpu_active_frac": "uptime", "cpu_and_network_available_frac": "uptime", "connected_frac": "uptime", "client_start_time": "when", "total_start_time": "when", "total_duration": "uptime", "total_active_duration": "uptime",
	"now": "when", "previous_uptime": "uptime", "session_active_duration": "uptime", "total_gpu_active_duration": "uptime", "session_gpu_active_duration": "uptime",
	"name": "two results and their files", "final_cpu_time": "measured", "final_elapsed_time": "measured", "final_peak_working_set_size": "measured", "final_peak_swap_size": "measured", "final_peak_disk_usage": "measured",
	"md5_cksum": "of what the task wrote", "signature_xml": "of the file", "upload_url": "of the file", "flops": "what is estimated follows from p_fpops", "stderr_txt": "what each task wrote",
	"p_ncpus": "each counts what it may use in tests", "code_sign_key": "white space",
	"p_features": "the client's text ends after 1 KiB",
	"ip_addr":    "the agent does not say where the computer is in its network",
}

// Fields that only one of them sends, and the reasons.
var oneSends = map[string]string{
	"agent: final_peak_disk_usage":       "the client measures now and then, and never in a short task",
	"agent: final_peak_swap_size":        "likewise",
	"agent: final_peak_working_set_size": "likewise",
}

var element = regexp.MustCompile(`<([a-z_0-9]+)>([^<]*)</`)

// fields returns the values in a request by their elements' names, without preferences, which
// differ.
func fields(request string) map[string][]string {
	request = regexp.MustCompile(`(?s)<working_global_preferences>.*</working_global_preferences>`).ReplaceAllString(request, "")
	request = regexp.MustCompile(`(?s)<global_preferences>.*</global_preferences>`).ReplaceAllString(request, "")
	of := make(map[string][]string)
	for _, m := range element.FindAllStringSubmatch(request, -1) {
		if v := strings.TrimSpace(m[2]); !slices.Contains(of[m[1]], v) {
			of[m[1]] = append(of[m[1]], v)
		}
	}
	return of
}

// TestTrueToPeers makes Starling's agent and BOINC's client work for a project on the same
// computer, and compares every field of the requests in which they report.
func TestTrueToPeers(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	gone := httptest.NewServer(http.NotFoundHandler()) // a front end that is down
	gone.Close()
	f := newFront(t, p)
	f.serves(t, p, gone.URL)
	workWith(t, ctx, p, 2, slowly(4*time.Millisecond), 2203)
	serve(t, ctx, p)
	c := startBOINC(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	startAgent(t, ctx, newAgent(t, "a"), p)
	creditedOnce(t, ctx, p, 2, 2203)

	ours, theirs := fields(f.report("8")), fields(f.report("7"))
	if len(ours) == 0 || len(theirs) == 0 {
		t.Fatal("one of them reported nothing by the front end that is up")
	}
	for name, values := range ours {
		if want, ok := theirs[name]; !ok {
			if oneSends["agent: "+name] == "" {
				t.Errorf("only the agent sends %s: %q", name, values)
			}
		} else if !slices.Equal(values, want) && mayDiffer[name] == "" {
			t.Errorf("%s: the agent sends %q, BOINC's client %q", name, values, want)
		}
	}
	for name, values := range theirs {
		if _, ok := ours[name]; !ok && oneSends["client: "+name] == "" {
			t.Errorf("only BOINC's client sends %s: %q", name, values)
		}
	}
	for _, name := range []string{"bwdown", "final_peak_disk_usage", "final_peak_swap_size"} {
		if v := ours[name]; len(v) == 0 || strings.Trim(v[0], "0.") == "" {
			t.Errorf("the agent measured no %s: %q", name, v)
		}
	}
	if u := ours["os_version"]; len(u) != 1 || !strings.Contains(u[0], "|libc ") {
		t.Errorf("os_version %q does not name the C library", u)
	}
}
