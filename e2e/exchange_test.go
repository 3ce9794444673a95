package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
)

// Patterns of the messages about coprocessors, stored files and compressed inputs in requests of an
// agent and replies of a server.
var (
	asked = map[string]string{
		"coprocessors":            `<type>fake</type>`,
		"a stored file":           `</time_stats>[\s\S]*<file_info>\s*<name>archive_1</name>\s*<nbytes>5000\.\d+</nbytes>\s*<status>1</status>`,
		"a result":                `<result>\s*<name>shout_0_0</name>[\s\S]*<exit_status>0</exit_status>`,
		"the results that it has": `<other_results>`,
	}
	answered = map[string]string{
		"an order to store a file":  `<file_info>\s*<name>archive_1</name>\s*<url>[^<]*/download/[^<]*</url>[\s\S]*?<sticky/>`,
		"an order to upload a file": `<file_info>\s*<name>archive_1</name>\s*<url>[^<]*file_upload_handler</url>`,
		"an order to delete a file": `<delete_file_info>\s*archive_1\s*</delete_file_info>`,
		"a compressed input file":   `<gzipped_url>[\s\S]*<gzipped_nbytes>`,
		"an acknowledgement":        `<result_ack>\s*<name>shout_0_0</name>`,
	}
)

// TestExchanges makes an agent and a server send all of these messages. With STARLING_CAPTURES=DIR
// they are written there, to test that future versions can read them:
// protocol/testdata/captures/starling was made this way.
func TestExchanges(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	f := newFront(t, p)
	f.serves(t, p)
	archive(t, ctx, p)
	packedWork(t, ctx, p)
	serve(t, ctx, p)
	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), "a"), "", "report_results_immediately = true\n[[coproc]]\ntype = \"fake\"\ncount = 2\npeak_flops = 1e10\n")
	must(t, err)
	t.Cleanup(func() {
		_ = a.Stop()
		showLog(t, a.Log())
	})
	startAgent(t, ctx, a, p)
	update := func() { _, _ = a.Run(ctx, "update", p.URL) }
	for _, action := range []string{"put", "get", "delete"} {
		orderFile(t, ctx, p, action, update)
	}
	if _, err := p.AwaitDone(ctx); err != nil {
		t.Fatal(err)
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	seen := make(map[string]bool)
	var told []int // exchanges that contain a kind of message for the first time
	for i := range f.requests {
		before := len(seen)
		for _, said := range []struct {
			text string
			like map[string]string
		}{{f.requests[i], asked}, {f.replies[i], answered}} {
			for name, like := range said.like {
				if regexp.MustCompile(like).MatchString(said.text) {
					seen[name] = true
				}
			}
		}
		if len(seen) > before {
			told = append(told, i)
		}
	}
	for _, list := range []map[string]string{asked, answered} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if !seen[name] {
				t.Errorf("nobody said %s", name)
			}
		}
	}
	if dir := os.Getenv("STARLING_CAPTURES"); dir != "" {
		for n, i := range told {
			for suffix, text := range map[string]string{
				"request":  "POST /cgi HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\n" + f.requests[i],
				"response": "HTTP/1.1 200 OK\nContent-Type: text/xml\n\n" + f.replies[i],
			} {
				name := filepath.Join(dir, fmt.Sprintf("%03d-scheduler.%s.http", n+1, suffix))
				must(t, os.WriteFile(name, []byte(anonymous(text)), 0o600))
			}
		}
	}
}

// anonymous removes from an exchange the facts about the computer on which it was made.
func anonymous(text string) string {
	for element, instead := range map[string]string{
		"authenticator": "9aba8a57a1d5e26a5ca9e5b35f8d2a44", "domain_name": "host", "host_cpid": strings.Repeat("0", 32), "external_cpid": strings.Repeat("0", 32),
		"cross_project_id": strings.Repeat("0", 32), "p_vendor": "GenuineIntel", "p_model": "A processor [Family 6 Model 85 Stepping 7]", "p_features": "fpu sse sse2",
		"os_version": "Debian GNU/Linux 12 (bookworm) [6.1.0-1-amd64|libc 2.36]", "product_name": "", "virtualization": "", "p_ncpus": "2",
	} {
		text = regexp.MustCompile(`(<`+element+`>)[^<]*`).ReplaceAllString(text, "${1}"+instead)
	}
	return text
}
