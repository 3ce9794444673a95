package executor

import "testing"

// A name that denotes another file on Windows is refused before anything is written.
func TestNamesOfOtherFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, change := range map[string]func(*Task){
		"a device":                      func(t *Task) { t.Files[0].Logical = "con.txt" },
		"a file of the interface":       func(t *Task) { t.Files[0].Logical = "init_data.xml." },
		"a stream of another file":      func(t *Task) { t.Files[0].Logical = "out:in" },
		"the same file in other case":   func(t *Task) { t.Files[0].Logical = "OUT" },
		"a physical name as a device's": func(t *Task) { t.Files[0].Physical = "aux" },
	} {
		task := b.task("upper")
		change(&task)
		if err := b.Start(task); err == nil {
			t.Errorf("%s: started", name)
		}
	}
}
