package notices_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/decide/notices"
)

const (
	project = "https://p.example/"
	feed    = "https://p.example/rss"
	day     = 24 * time.Hour
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// show writes notices in one line: number, title or text, and where from.
func show(all []notices.Notice) string {
	var texts []string
	for _, n := range all {
		text := n.Title
		if n.Feed == "" {
			text = "said " + n.HTML
		}
		texts = append(texts, fmt.Sprintf("%d %s", n.Seqno, text))
	}
	return strings.Join(texts, ", ")
}

func item(guid, title string, age time.Duration) notices.Item {
	return notices.Item{GUID: guid, Title: title, Date: now.Add(-age)}
}

func TestRead(t *testing.T) {
	kept := notices.Read(nil, project, feed, []notices.Item{item("b", "B", 2*day), item("a", "A", 3*day), item("old", "Old", 30*day), item("b", "B again", day)}, 1, now)
	if got := show(kept); got != "1 A, 2 B" {
		t.Fatalf("of a new feed: %s; the oldest comes first, none is older than 30 days or of a known guid", got)
	}
	// One is changed, one is new, one was withdrawn.
	later := now.Add(day)
	next := notices.Read(kept, project, feed, []notices.Item{item("c", "C", 0), item("a", "A, corrected", 3*day)}, 3, later)
	if got := show(next); got != "3 A, corrected, 4 C" {
		t.Errorf("a day later: %s", got)
	}
	same := notices.Read(kept, project, feed, []notices.Item{item("b", "B", 2*day), item("a", "A", 3*day)}, 3, later)
	if got := show(same); got != "2 B, 1 A" || !same[0].Arrived.Equal(now) {
		t.Errorf("the same once more: %s, arrived %v", got, same[0].Arrived)
	}
	// Another feed of the project and its scheduler's messages stay. The same item is shown once.
	both := notices.Read(append(kept, notices.Notice{Seqno: 9, Project: project, HTML: "hello", Created: now}), project, "https://p.example/other", []notices.Item{item("a", "A", 3*day), item("x", "X", day)}, 10, later)
	if got := show(both); got != "1 A, 2 B, 9 said hello, 10 X" {
		t.Errorf("with another feed: %s", got)
	}
}

func TestItemsWithoutDateOrGUID(t *testing.T) {
	items := []notices.Item{{Title: "One", Link: "https://p.example/1"}, {Title: "Two"}, {GUID: "f", Title: "From the future", Date: now.AddDate(1, 0, 0)}}
	kept := notices.Read(nil, project, feed, items, 1, now)
	if got := show(kept); got != "1 One, 2 Two, 3 From the future" || kept[2].Dated || !kept[2].Created.Equal(now) {
		t.Fatalf("got %s, %+v", got, kept[2])
	}
	for _, age := range []time.Duration{day, 40 * day} { // they stay as long as the feed has them, and are not new again
		again := notices.Read(kept, project, feed, items, 4, now.Add(age))
		if got := show(again); got != "1 One, 2 Two, 3 From the future" || !again[0].Created.Equal(now) {
			t.Errorf("after %v: %s", age, got)
		}
	}
}

func TestBounded(t *testing.T) {
	var items []notices.Item
	for i := range 200 {
		items = append(items, item(fmt.Sprint(i), fmt.Sprint(i), time.Duration(i)*time.Hour))
	}
	kept := notices.Read(nil, project, feed, items, 1, now)
	if len(kept) != notices.Most || kept[len(kept)-1].Title != "0" {
		t.Errorf("%d are kept, the last is %+v", len(kept), kept[len(kept)-1])
	}
}

func TestSaid(t *testing.T) {
	kept := notices.Said(nil, project, []string{"You need 24 GB more disk space.", "Update the driver."}, true, 1, now)
	if got := show(kept); got != "1 said You need 24 GB more disk space., 2 said Update the driver." {
		t.Fatalf("got %s", got)
	}
	for _, tt := range []struct {
		name  string
		said  []string
		work  bool
		after time.Duration
		want  string
	}{
		{"other numbers are no news", []string{"You need 3 GB more disk space."}, true, day, "1 said You need 24 GB more disk space., 2 said Update the driver."},
		{"after a week they are", []string{"You need 3 GB more disk space."}, true, 7 * day, "2 said Update the driver., 9 said You need 3 GB more disk space."},
		{"a report alone takes none back", nil, false, day, "1 said You need 24 GB more disk space., 2 said Update the driver."},
		{"a request for work without any does", nil, true, day, ""},
		{"something else", []string{"Maintenance."}, false, day, "1 said You need 24 GB more disk space., 2 said Update the driver., 9 said Maintenance."},
	} {
		if got := show(notices.Said(kept, project, tt.said, tt.work, 9, now.Add(tt.after))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestExpire(t *testing.T) {
	kept := []notices.Notice{
		{Seqno: 1, Feed: feed, Dated: true, Created: now.Add(-30 * day)},
		{Seqno: 2, Feed: feed, Dated: true, Created: now.Add(-29 * day)},
		{Seqno: 3, Feed: feed, Created: now.Add(-50 * day)},
		{Seqno: 4, Created: now.Add(-31 * day)},
		{Seqno: 5, Created: now},
		{Seqno: 6, Feed: "https://gone.example/", Dated: true, Created: now},
	}
	got := ""
	for _, n := range notices.Expire(kept, []notices.Feed{{URL: feed}}, now) {
		got += fmt.Sprint(n.Seqno, " ")
	}
	if got != "2 3 5 " {
		t.Errorf("left: %s", got)
	}
}

func TestFeeds(t *testing.T) {
	known := []notices.Feed{{URL: feed, Poll: day, Next: now, Failures: 2}, {URL: "https://gone.example/", Poll: day}}
	got := notices.Feeds(known, []notices.Feed{
		{URL: feed, Poll: time.Second},
		{URL: "HTTPS://q.example/rss", Poll: 365 * day},
		{URL: feed, Poll: day},
		{URL: "file:///etc/passwd", Poll: day},
		{URL: "javascript:alert(1)"},
		{URL: "http:///x"},
		{URL: ""},
		{URL: "//p.example/"},
	})
	want := []notices.Feed{{URL: feed, Poll: notices.LeastPoll, Next: now, Failures: 2}, {URL: "HTTPS://q.example/rss", Poll: notices.MostPoll}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDue(t *testing.T) {
	f := func(in time.Duration) notices.Feed { return notices.Feed{Poll: day, Next: now.Add(in)} }
	for _, tt := range []struct {
		feeds []notices.Feed
		i     int
		wake  time.Duration
	}{
		{nil, -1, 0},
		{[]notices.Feed{f(2 * time.Hour), f(time.Hour)}, -1, time.Hour},
		{[]notices.Feed{f(-time.Hour), f(-2 * time.Hour), f(time.Minute)}, 1, time.Minute},
		{[]notices.Feed{f(time.Hour), {Poll: day}}, 1, time.Hour},
		{[]notices.Feed{f(25 * time.Hour)}, 0, 0}, // the clock was set back
	} {
		i, wake := notices.Due(tt.feeds, now)
		if i != tt.i || tt.wake != 0 && !wake.Equal(now.Add(tt.wake)) {
			t.Errorf("%v: got %d, %v; want %d, %v", tt.feeds, i, wake, tt.i, tt.wake)
		}
	}
	x := notices.Feed{Poll: day}
	rng := rand.New(rand.NewPCG(1, 2))
	last := time.Duration(0)
	for range 20 {
		x = x.Failed(now, rng)
		wait := x.Next.Sub(now)
		if wait < 5*time.Minute || wait > day || wait < last/4 {
			t.Fatalf("after %d failures it waits for %v", x.Failures, wait)
		}
		last = wait
	}
	if x = x.Read(now); x.Failures != 0 || !x.Next.Equal(now.Add(day)) {
		t.Errorf("after a look that went well: %+v", x)
	}
}
