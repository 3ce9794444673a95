package guirpc_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control/guirpc"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide/notices"
	"github.com/starling-grid/starling/prefs"
)

// A board has notices that tests may change.
type board struct {
	guirpc.Agent
	mu  sync.Mutex
	all []view.ToolsNotice
}

func (b *board) Tools(context.Context) (view.Tools, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return view.Tools{Platforms: []string{"x86_64-pc-linux-gnu"}, Prefs: prefs.Merge(), Now: time.Now(), Notices: b.all}, nil
}

func (b *board) set(seqnos ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = nil
	for _, n := range seqnos {
		b.all = append(b.all, view.ToolsNotice{ProjectName: "P", Notice: notices.Notice{Seqno: n, Feed: "f", Title: fmt.Sprint("t", n), HTML: "<b>h</b> ]]>", Link: "https://p.example/?a=1&b=2", Created: time.Unix(1e9, 0)}})
	}
}

// got returns the numbers of the notices in a reply.
func got(reply string) (numbers string) {
	for _, part := range strings.Split(reply, "<seqno>")[1:] {
		n, _, _ := strings.Cut(part, "<")
		numbers += n + " "
	}
	return numbers
}

// Tools get new notices, and all of them once one was withdrawn.
func TestNotices(t *testing.T) {
	b := new(board)
	b.set(1, 2)
	p := dial(t, serveAgent(t, b, ""))
	ask := func(after int) string {
		return p.call(fmt.Sprintf("<get_notices>\n<seqno>%d</seqno>\n</get_notices>", after))
	}
	first := ask(0)
	if got(first) != "1 2 " || !strings.Contains(first, "<title>t1</title>\n<description><![CDATA[\n<b>h</b> ]] >\n]]></description>\n<create_time>1000000000.000000</create_time>") ||
		!strings.Contains(first, "<link><![CDATA[https://p.example/?a=1&b=2]]></link>") || !strings.Contains(first, "<category></category>") {
		t.Errorf("at first: %s", first)
	}
	for _, tt := range []struct {
		what  string
		here  []int
		after int
		want  string
	}{
		{"nothing new", []int{1, 2}, 2, ""},
		{"one more", []int{1, 2, 3}, 2, "3 "},
		{"one withdrawn and one more", []int{1, 3, 4}, 3, "-1 1 3 4 "},
		{"that is said once", []int{1, 3, 4}, 4, ""},
		{"all withdrawn", nil, 4, "-1 "},
		{"a number that is used again", []int{1}, 0, "1 "},
	} {
		b.set(tt.here...)
		if reply := ask(tt.after); got(reply) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.what, got(reply), tt.want)
		}
	}
	b.mu.Lock()
	b.all = []view.ToolsNotice{{ProjectName: "P", Notice: notices.Notice{Seqno: 9, HTML: "Use < 3 & more."}}}
	b.mu.Unlock()
	if reply := p.call("<get_notices_public>\n<seqno>8</seqno>\n</get_notices_public>"); !strings.Contains(reply, "Use &lt; 3 &amp; more.") || !strings.Contains(reply, "<category>scheduler</category>") {
		t.Errorf("of a scheduler: %s", reply)
	}
}
