package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

func TestNatural(t *testing.T) {
	want := []string{"", "a", "p_1", "p_02", "p_2", "p_2_1", "p_10", "p_10a", "p_99999999999999999999999", "q"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, natural)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Running tasks come first, the others by project and name. A reason that many share is shown once.
func TestTasks(t *testing.T) {
	s := control.Status{Projects: []control.Project{{Name: "B", MasterURL: "http://b/"}, {Name: "A", MasterURL: "http://a/"}}}
	for _, n := range []int{10, 9, 11, 2} {
		s.Tasks = append(s.Tasks, control.Task{Name: fmt.Sprint("w_", n), Project: "http://a/", State: "ready", Why: "All CPUs are busy."})
	}
	s.Tasks = append(s.Tasks,
		control.Task{Name: "b_1", Project: "http://b/", State: "ready", Why: "You suspended this task."},
		control.Task{Name: "z", Project: "http://b/", Running: true, Why: "Running."})
	var b bytes.Buffer
	showTasks(display{Writer: &b}, s)
	var order []string
	for line := range strings.Lines(b.String()) {
		order = append(order, strings.Fields(line)[0])
	}
	if got := strings.Join(order, " "); got != "TASK z w_2 w_9 w_10 w_11 b_1 [1]" {
		t.Errorf("order %s in\n%s", got, &b)
	}
	for _, want := range []string{"Running.", "You suspended this task.", "[1] 4 tasks: All CPUs are busy.\n"} {
		if strings.Count(b.String(), want) != 1 {
			t.Errorf("%q is not said once in\n%s", want, &b)
		}
	}
}
