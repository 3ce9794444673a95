package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
)

// merge applies a JSON merge patch as RFC 7396 has it.
func merge(target, patch any) any {
	p, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	t, isObject := target.(map[string]any)
	if !isObject {
		t = make(map[string]any)
	}
	for name, v := range p {
		if v == nil {
			delete(t, name)
		} else {
			t[name] = merge(t[name], v)
		}
	}
	return t
}

// queue returns a page with so many tasks in two projects.
func queue(n int) view.Page {
	v := view.Page{Plans: make(map[string]decide.ProjectPlan), Credit: make(map[string][]view.Day)}
	v.Disk.Projects = make(map[string]int64)
	for i := range n {
		v.Status.Tasks = append(v.Status.Tasks, control.Task{
			Name: fmt.Sprintf("task_%d", i), Project: fmt.Sprintf("https://p%d.example/", i%2), State: "downloaded", Slot: -1,
			Deadline: time.Unix(1e9+int64(i), 0).UTC(), Why: "Waiting for a CPU.",
		})
	}
	for i := range 2 {
		u := fmt.Sprintf("https://p%d.example/", i)
		v.Status.Projects = append(v.Status.Projects, control.Project{MasterURL: u, Notices: []string{"hello"}})
		v.Plans[u] = decide.ProjectPlan{Debt: 7}
	}
	return v
}

func TestDifferencesMakeTheWholeView(t *testing.T) {
	steps := []struct {
		name   string
		change func(v *view.Page)
		most   int // bytes of the event (0: any)
		least  int
	}{
		{"nothing", func(*view.Page) {}, 0, 0},
		{"a task runs", func(v *view.Page) { v.Status.Tasks[500].Running, v.Status.Tasks[500].Elapsed = true, 3 }, 200, 1},
		{"it computes", func(v *view.Page) { v.Status.Tasks[500].Elapsed, v.Status.Unsaved = 4, 4 }, 200, 1},
		{"it says no more about a problem", func(v *view.Page) { v.Status.Tasks[500].Why = "" }, 200, 1},
		{"a member that is left out when it is zero comes", func(v *view.Page) { v.Status.Tasks[500].Late = 9 }, 200, 1},
		{"and goes", func(v *view.Page) { v.Status.Tasks[500].Late = 0 }, 200, 1},
		{"a task goes", func(v *view.Page) { v.Status.Tasks = v.Status.Tasks[1:] }, 200, 1},
		{"a task comes", func(v *view.Page) {
			v.Status.Tasks = append(v.Status.Tasks, control.Task{Name: "new", Project: "https://p0.example/"})
		}, 800, 1},
		{"they are in another order", func(v *view.Page) {
			v.Status.Tasks[0], v.Status.Tasks[1] = v.Status.Tasks[1], v.Status.Tasks[0]
		}, 0, 0},
		{"a list gets shorter", func(v *view.Page) { v.Status.Projects[0].Notices = nil }, 200, 1},
		{"a project goes", func(v *view.Page) {
			v.Status.Projects = v.Status.Projects[:1]
			delete(v.Plans, "https://p1.example/")
		}, 200, 1},
		{"a transfer", func(v *view.Page) {
			v.Status.Transfers = []control.Xfer{{Name: "in", Project: "https://p0.example/", Size: 5}}
		}, 400, 1},
		{"credit", func(v *view.Page) { v.Credit["https://p0.example/"] = []view.Day{{User: 1}} }, 300, 1},
		{"all tasks go", func(v *view.Page) { v.Status.Tasks = nil }, 0, 1},
	}
	v := queue(1000)
	shown, err := newDocument(v, document{})
	must(t, err)
	text, err := told(document{}, shown)
	must(t, err)
	data, ok := strings.CutPrefix(text, "event: view\ndata: ")
	if !ok {
		t.Fatalf("%.80q", text)
	}
	var page any
	must(t, json.Unmarshal([]byte(data), &page))
	for _, s := range steps {
		v.Status.Tasks, v.Status.Projects = append([]control.Task{}, v.Status.Tasks...), append([]control.Project{}, v.Status.Projects...)
		v.Plans, v.Credit = maps.Clone(v.Plans), maps.Clone(v.Credit)
		s.change(&v)
		now, err := newDocument(v, shown)
		must(t, err)
		text, err := told(shown, now)
		must(t, err)
		if len(text) < s.least || s.most > 0 && len(text) > s.most || s.least == 0 && text != "" {
			t.Errorf("%s: %d bytes: %.300s", s.name, len(text), text)
		}
		if data, ok := strings.CutPrefix(text, "event: change\ndata: "); ok {
			var patch any
			must(t, json.Unmarshal([]byte(data), &patch))
			page = merge(page, patch)
		}
		shown = now
		if want := whole(t, v); !reflect.DeepEqual(page, want) {
			t.Fatalf("%s: the page has\n%v, want\n%v", s.name, page, want)
		}
	}
}

// whole returns the data sent to a page that opens now.
func whole(t *testing.T, v view.Page) (all any) {
	t.Helper()
	d, err := newDocument(v, document{})
	must(t, err)
	b, err := d.whole()
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	must(t, err)
	return all
}

// BenchmarkLook10000 measures the cost of a second while a page is open and ten of ten thousand
// tasks run.
func BenchmarkLook10000(b *testing.B) {
	v := queue(10000)
	shown, err := newDocument(v, document{})
	must(b, err)
	size := 0
	for b.Loop() {
		v.Status.Tasks = append([]control.Task{}, v.Status.Tasks...)
		for i := range 10 {
			v.Status.Tasks[i].Elapsed++
		}
		now, err := newDocument(v, shown)
		must(b, err)
		text, err := told(shown, now)
		must(b, err)
		size, shown = len(text), now
	}
	b.ReportMetric(float64(size), "B/event")
}
