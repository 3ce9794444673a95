package agent_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

// If an agent is killed while it has a message of an application, the next one sends the message,
// again and again until a server acknowledges it.
func TestMessagesOutliveTheAgent(t *testing.T) {
	t.Parallel()
	reply := recorded(t, "debian-7.20.5/keys/006-scheduler.response.http")
	taken := reply
	taken.body = bytes.Replace(reply.body, []byte("</scheduler_reply>"), []byte("<message_ack/>\n</scheduler_reply>"), 1)
	if bytes.Equal(taken.body, reply.body) || bytes.Contains(reply.body, []byte("<message_ack/>")) {
		t.Fatal("the recorded reply is not as expected")
	}
	w := newWorld(t, demoURL, withMaster(t, demoURL, reply, answer{code: 500}, answer{code: 500}, answer{code: 500}, taken), nil)
	name := appipc.TrickleName("r_0", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Hour))
	w.file(name, "<variety>v</variety>\n<text>\n<n>1</n>\n</text>\n")
	path := filepath.Join(w.dir, "projects", protocol.EscapeURL(demoURL), name)
	w.run(func(t *testing.T) {
		for w.count(sched) < 5 {
			w.after(t, time.Minute)
		}
		w.after(t, time.Hour)
	})
	for n := range 3 { // refused, in trouble (one request, thrice), taken
		if r := w.request(t, []int{0, 1, 4}[n]); len(r.Trickles) != 1 || r.Trickles[0].ResultName != "r_0" || !strings.Contains(r.Trickles[0].Text, "<n>1</n>") {
			t.Errorf("request %d carries %+v", n, r.Trickles)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the message is kept although the server has it")
	}
	for n := 5; n < w.count(sched); n++ {
		if r := w.request(t, n); len(r.Trickles) > 0 {
			t.Errorf("request %d carries it again", n)
		}
	}
}

// Messages that are too many for one request are sent with the next ones, the oldest first.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	taken := recorded(t, "debian-7.20.5/keys/006-scheduler.response.http")
	taken.body = bytes.Replace(taken.body, []byte("</scheduler_reply>"), []byte("<message_ack/>\n</scheduler_reply>"), 1)
	w := newWorld(t, demoURL, withMaster(t, demoURL, taken), nil)
	const size, n = 900_000, 10
	for i := range n {
		name := appipc.TrickleName("r_0", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i-n)*time.Hour))
		w.file(name, fmt.Sprintf("<variety>v%d</variety>\n<text>\n%s\n</text>\n", i, strings.Repeat("x", size)))
	}
	w.run(func(t *testing.T) { w.after(t, 6*time.Hour) })
	got := ""
	for i := range w.count(sched) {
		for _, m := range w.request(t, i).Trickles {
			got += m.Text[len("<variety>v"):len("<variety>v0")]
		}
		got += " "
	}
	if got = strings.TrimSpace(got); got != "0123 4567 89" {
		t.Errorf("messages in each request: %s", got)
	}
}

// Computing pauses while the folder is larger than the preferences allow, and resumes when it is
// not.
func TestDiskQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), nil)
	for name, size := range map[string]int{"prefs.toml": 0, "junk": 3e6} {
		text := bytes.Repeat([]byte("x"), size)
		if size == 0 {
			text = []byte("disk_max_used_gb = 0.002\nsuspend_cpu_usage = 0\n")
		}
		must(t, os.WriteFile(filepath.Join(w.dir, name), text, 0o600))
	}
	w.run(func(t *testing.T) {
		if s := w.after(t, time.Minute); !strings.Contains(s.Compute, "disk_max_used_gb") {
			t.Errorf("computing: %q", s.Compute)
		}
		must(t, os.Remove(filepath.Join(w.dir, "junk")))
		if s := w.after(t, 10*time.Minute); s.Compute != "" {
			t.Errorf("computing: %q", s.Compute)
		}
	})
}
