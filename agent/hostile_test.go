package agent_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A crowd is two honest projects and, under hostileURL, one that answers anything.
type crowd struct {
	mu      sync.Mutex
	asked   map[string][]time.Time // by account key: when a scheduler was
	reports map[string]time.Time   // by name of the result
	hostile []wild
	n       int
}

const hostileURL = "http://127.0.0.1:18060/hostile/"

// A wild answer is sent no matter what was asked.
type wild struct {
	code   int // 0: no connection, -1: no reply, and the connection stays
	body   string
	target string // of a redirect
	pace   time.Duration
}

func (c *crowd) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	c.mu.Lock()
	if req, err := protocol.ParseSchedulerRequest(body); err == nil {
		c.asked[string(req.Authenticator)] = append(c.asked[string(req.Authenticator)], time.Now())
		for _, res := range req.Results {
			c.reports[res.Name] = time.Now()
		}
	}
	a := c.honest(r, body)
	if strings.HasPrefix(r.URL.String(), hostileURL) {
		a = c.hostile[c.n%len(c.hostile)]
		c.n++
	}
	c.mu.Unlock()
	if a.code == -1 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if a.code == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	h := make(http.Header)
	if a.target != "" {
		h.Set("Location", a.target)
		h.Set("Retry-After", "86400")
	}
	content := io.Reader(strings.NewReader(a.body))
	if a.pace > 0 {
		content = &paced{r, strings.NewReader(a.body), a.pace}
	}
	return &http.Response{StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: io.NopCloser(content), ContentLength: -1, Request: r}, nil
}

// paced gives a piece now and then.
type paced struct {
	r    *http.Request
	left io.Reader
	pace time.Duration
}

func (p *paced) Read(b []byte) (int, error) {
	select {
	case <-p.r.Context().Done():
		return 0, p.r.Context().Err()
	case <-time.After(p.pace):
		return p.left.Read(b[:min(len(b), 200)])
	}
}

// honest answers for the other projects, which have no work.
func (c *crowd) honest(r *http.Request, body []byte) wild {
	switch kindOf(r) {
	case sched:
		ack := ""
		if bytes.Contains(body, []byte("tt_1_0")) {
			ack = "<result_ack><name>tt_1_0</name></result_ack>"
		}
		return wild{code: 200, body: "<scheduler_reply><hostid>5</hostid><request_delay>7</request_delay>" + ack + "</scheduler_reply>"}
	case upload:
		return wild{code: 200, body: "<data_server_reply><status>0</status><file_size>0</file_size></data_server_reply>"}
	}
	return wild{code: 200, body: "<!-- <scheduler>" + r.URL.String() + "cgi</scheduler> -->"}
}

// anyAnswers returns the answers of a hostile project.
func anyAnswers(t *rapid.T) (all []wild) {
	number := rapid.SampledFrom([]string{"0", "-1", "1e308", "nan", "inf", "1e-9", "86400", "99999999999999999999", "0x7fffffffffffffff"})
	for range rapid.IntRange(1, 12).Draw(t, "answers") {
		var b strings.Builder
		b.WriteString("<scheduler_reply>")
		for range rapid.IntRange(0, 6).Draw(t, "elements") {
			n := number.Draw(t, "number")
			switch rapid.IntRange(0, 8).Draw(t, "element") {
			case 0:
				fmt.Fprintf(&b, "<request_delay>%s</request_delay><next_rpc_delay>%s</next_rpc_delay>", n, number.Draw(t, "next"))
			case 1:
				b.WriteString("<project_is_down/>")
			case 2:
				fmt.Fprintf(&b, "<user_total_credit>%s</user_total_credit><hostid>%s</hostid><user_name>\x1b]52;c;x\a</user_name>", n, n)
			case 3:
				fmt.Fprintf(&b, "<master_url>%s</master_url><message priority=\"notice\">%s</message>", demoURL, strings.Repeat("x", 10_000))
			case 4:
				fmt.Fprintf(&b, "<result_ack><name>tt_1_0</name></result_ack><result_abort><name>tt_1_0</name></result_abort><delete_file_info>tt_1_0_0</delete_file_info>")
			case 5:
				for i := range rapid.SampledFrom([]int{1, 50, 1500}).Draw(t, "tasks") {
					fmt.Fprintf(&b, "<workunit><name>w%d</name><app_name>a</app_name><rsc_fpops_est>%s</rsc_fpops_est><rsc_memory_bound>%s</rsc_memory_bound><file_ref><file_name>in</file_name></file_ref></workunit>", i, n, n)
					fmt.Fprintf(&b, "<result><name>r%d</name><wu_name>w%d</wu_name><report_deadline>%s</report_deadline></result>", i, i, n)
				}
				platform := "x86_64-pc-linux-gnu"
				fmt.Fprintf(&b, "<app><name>a</name></app><app_version><app_name>a</app_name><platform>%s</platform><avg_ncpus>%s</avg_ncpus><flops>%s</flops></app_version>", platform, n, n)
				fmt.Fprintf(&b, "<file_info><name>in</name><nbytes>%s</nbytes><url>%sdownload/in</url></file_info>", n, hostileURL)
			case 6:
				fmt.Fprintf(&b, "<no_rsc_apps>CPU</no_rsc_apps><cross_project_id>%s</cross_project_id>", n)
			case 7:
				b.WriteString(rapid.String().Draw(t, "garbage"))
			case 8:
				fmt.Fprintf(&b, "<trickle_down><result_name>tt_1_0</result_name><time>%s</time></trickle_down><message_ack/>", n)
			}
		}
		b.WriteString("</scheduler_reply>")
		text := b.String()
		all = append(all, wild{
			code: rapid.SampledFrom([]int{200, 200, 200, 200, 301, 404, 500, 503, 0, -1}).Draw(t, "code"), pace: rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, time.Minute}).Draw(t, "pace"),
			target: rapid.SampledFrom([]string{"", demoURL + "cgi", hostileURL, "gopher://x/"}).Draw(t, "target"),
			body: rapid.OneOf(rapid.Just(text), rapid.SampledFrom([]string{
				"<!-- <scheduler>" + hostileURL + "cgi</scheduler> -->", "<scheduler>" + hostileURL + "cgi</scheduler><scheduler>" + demoURL + "cgi</scheduler>", "", "<html>",
				"<data_server_reply><status>1</status></data_server_reply>", strings.Repeat("x", 50_000),
			})).Draw(t, "body"),
		})
	}
	// So that its scheduler is found at all.
	return append([]wild{{code: 200, body: "<!-- <scheduler>" + hostileURL + "cgi</scheduler> -->"}}, all...)
}

// visit runs an agent for half a day with the crowd, and returns the crowd afterwards.
func visit(t *testing.T, hostile []wild) *crowd {
	t.Helper()
	c := &crowd{asked: make(map[string][]time.Time), reports: make(map[string]time.Time), hostile: hostile}
	w := &world{t: t, dir: t.TempDir(), url: benchURL, peer: &peer{asked: make(map[string]int)}, transport: c}
	w.fill(t, func(db *state.DB, tx *state.Tx) { finished(db, tx) })
	w.file("tt_1_0_0", "hello, world\n")
	urls := map[string]string{"k1": demoURL}
	if hostile != nil {
		urls["k2"] = hostileURL
	}
	for key, u := range urls {
		must(t, settings.WriteAccount(w.dir, settings.Account{MasterURL: u, Authenticator: protocol.Authenticator(key), ResourceShare: 100}))
	}
	w.run(func(t *testing.T) {
		w.after(t, 12*time.Hour)
	})
	return c
}

// TestNoProjectDisturbsOthers plays half a day with two honest projects, once alone and then with
// one that answers anything. The honest ones are asked as often, except for random differences, and
// reported to as early.
func TestNoProjectDisturbsOthers(t *testing.T) {
	t.Parallel()
	const bench, demo = "00000000000000000000000000000001", "k1"
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	quiet := visit(t, nil)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		answers := anyAnswers(rt)
		if runs++; runs > 3 && os.Getenv("HOSTILE_LONG") == "" {
			return // each costs a data directory (HOSTILE_LONG=1 plays them all)
		}
		c := visit(t, answers)
		for _, key := range []string{bench, demo} {
			got, want := len(c.asked[key]), len(quiet.asked[key])
			if got < want/2 || want == 0 {
				rt.Fatalf("%s was asked %d times, without the hostile one %d times", key, got, want)
			}
			if first := c.asked[key][0].Sub(start); first > time.Minute+quiet.asked[key][0].Sub(start) {
				rt.Fatalf("%s was asked for the first time after %v", key, first)
			}
		}
		if when := c.reports["tt_1_0"]; when.IsZero() || when.Sub(start) > quiet.reports["tt_1_0"].Sub(start)+time.Hour {
			rt.Fatalf("its result was reported at %v, without the hostile one at %v", when, quiet.reports["tt_1_0"])
		}
	})
}
