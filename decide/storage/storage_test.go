package storage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/decide/storage"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func hours(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }

func TestDecide(t *testing.T) {
	kept := func(name string, bytes int64, used int) storage.File {
		return storage.File{Name: name, Bytes: bytes, Sticky: true, Used: hours(used)}
	}
	with := func(f storage.File, change func(*storage.File)) storage.File {
		change(&f)
		return f
	}
	for _, tt := range []struct {
		name string
		s    storage.Snapshot
		want []storage.Verdict
	}{
		{"a file that nothing needs goes, one that something needs stays", storage.Snapshot{Files: []storage.File{
			{Name: "a"}, {Name: "b", Needed: true},
		}}, []storage.Verdict{{Code: storage.Unneeded}, {}}},
		{"a sticky file stays without limits", storage.Snapshot{Excess: -1e12, Files: []storage.File{kept("a", 1e9, -9999)}}, []storage.Verdict{{}}},
		{"its lifetime is over", storage.Snapshot{Files: []storage.File{
			with(kept("a", 1, 0), func(f *storage.File) { f.Until = now }),
			with(kept("b", 1, 0), func(f *storage.File) { f.Until = hours(1) }),
			with(kept("c", 1, 0), func(f *storage.File) { f.Until, f.Needed = hours(-1), true }),
		}}, []storage.Verdict{{Code: storage.Expired}, {}, {}}},
		{"the least recently used goes first", storage.Snapshot{Limit: 25, Files: []storage.File{
			kept("a", 10, -1), kept("b", 10, -3), kept("c", 10, -2),
		}}, []storage.Verdict{{}, {Code: storage.OverallLimit}, {}}},
		{"one that a task needs takes room and does not go", storage.Snapshot{Limit: 25, Files: []storage.File{
			kept("a", 10, -1), with(kept("b", 20, -3), func(f *storage.File) { f.Needed = true }), kept("c", 10, -2),
		}}, []storage.Verdict{{Code: storage.OverallLimit}, {}, {Code: storage.OverallLimit}}},
		{"a project's own limit", storage.Snapshot{Projects: []storage.Project{{Limit: 15}, {}}, Files: []storage.File{
			kept("a", 10, -1), kept("b", 10, -3), with(kept("c", 10, -9), func(f *storage.File) { f.Project = 1 }),
		}}, []storage.Verdict{{}, {Code: storage.ProjectLimit}, {}}},
		{"the disk is full", storage.Snapshot{Excess: 11, Files: []storage.File{
			kept("a", 10, -1), kept("b", 10, -3), kept("c", 10, -2),
		}}, []storage.Verdict{{}, {Code: storage.DiskLimit}, {Code: storage.DiskLimit}}},
		{"one that is ordered displaces an older one", storage.Snapshot{Limit: 25, Files: []storage.File{
			kept("a", 10, -1), kept("b", 10, -3), with(kept("c", 10, 0), func(f *storage.File) { f.Status = storage.Ordered }),
		}}, []storage.Verdict{{}, {Code: storage.OverallLimit}, {}}},
		{"but nothing of another project", storage.Snapshot{Limit: 25, Projects: make([]storage.Project, 2), Files: []storage.File{
			kept("a", 10, -1), kept("b", 10, -3), with(kept("c", 10, 0), func(f *storage.File) { f.Project, f.Status = 1, storage.Ordered }),
		}}, []storage.Verdict{{}, {}, {Code: storage.OverallLimit, Refused: true}}},
		{"one that can never fit is refused, and nothing goes for it", storage.Snapshot{Projects: []storage.Project{{Limit: 25}}, Files: []storage.File{
			kept("a", 10, -1), with(kept("c", 26, 0), func(f *storage.File) { f.Status = storage.Ordered }),
		}}, []storage.Verdict{{}, {Code: storage.ProjectLimit, Refused: true}}},
		{"one that the disk has no room for is refused", storage.Snapshot{Excess: -20, Files: []storage.File{
			with(kept("c", 26, 0), func(f *storage.File) { f.Status = storage.Ordered }),
		}}, []storage.Verdict{{Code: storage.DiskLimit, Refused: true}}},
		{"one that is nowhere is forgotten, and one that failed after a day", storage.Snapshot{Files: []storage.File{
			with(kept("a", 10, 0), func(f *storage.File) { f.Status = storage.Nowhere }),
			with(kept("b", 10, -23), func(f *storage.File) { f.Status = storage.HadFailed }),
			with(kept("c", 10, -24), func(f *storage.File) { f.Status = storage.HadFailed }),
		}}, []storage.Verdict{{Code: storage.Lost}, {}, {Code: storage.Lost}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.s
			s.Now = now
			if s.Projects == nil {
				s.Projects = make([]storage.Project, 1)
			}
			plan := storage.Decide(s)
			if !slices.Equal(plan.Verdicts, tt.want) {
				t.Errorf("got %+v, want %+v", plan.Verdicts, tt.want)
			}
			for i, v := range plan.Verdicts {
				if text := v.Text(s, s.Files[i]); (v.Code != "") != (text != "") {
					t.Errorf("%+v reads %q", v, text)
				}
			}
		})
	}
}

func TestAgain(t *testing.T) {
	f := storage.File{Sticky: true, Used: now}
	never, soon, later := f, f, f
	soon.Until, later.Until, never.Needed = hours(2), hours(5), true
	never.Until = hours(1) // it is checked once the room is not needed any more
	s := storage.Snapshot{Now: now, Projects: make([]storage.Project, 1), Files: []storage.File{f, later, soon, never}}
	if got := storage.Decide(s).Again; !got.Equal(hours(2)) {
		t.Errorf("got %v, want the earliest end of a lifetime", got)
	}
}

func snapshots() *rapid.Generator[storage.Snapshot] {
	return rapid.Custom(func(t *rapid.T) storage.Snapshot {
		limit := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 200))
		s := storage.Snapshot{Now: now, Limit: limit.Draw(t, "limit"), Excess: rapid.Int64Range(-200, 100).Draw(t, "excess")}
		for range rapid.IntRange(1, 3).Draw(t, "projects") {
			s.Projects = append(s.Projects, storage.Project{Limit: limit.Draw(t, "limit of a project")})
		}
		for i := range rapid.IntRange(0, 12).Draw(t, "files") {
			f := storage.File{
				Name: string(rune('a' + i)), Project: rapid.IntRange(0, len(s.Projects)-1).Draw(t, "project"),
				Bytes: rapid.Int64Range(0, 60).Draw(t, "bytes"), Sticky: rapid.IntRange(0, 5).Draw(t, "sticky") > 0,
				Used: hours(-rapid.IntRange(0, 48).Draw(t, "used")), Needed: rapid.IntRange(0, 3).Draw(t, "needed") == 0,
				Status: rapid.SampledFrom([]storage.Status{storage.Present, storage.Present, storage.Present, storage.Ordered, storage.Nowhere, storage.HadFailed}).Draw(t, "status"),
			}
			if rapid.Bool().Draw(t, "mortal") {
				f.Until = hours(rapid.IntRange(-5, 5).Draw(t, "until"))
			}
			s.Files = append(s.Files, f)
		}
		return s
	})
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshots().Draw(t, "snapshot")
		plan := storage.Decide(s)
		stays, idle := make([]int64, len(s.Projects)), make([]int64, len(s.Projects))
		var total, idleTotal int64
		for i, f := range s.Files {
			v := plan.Verdicts[i]
			switch {
			case f.Needed && v.Code != "":
				t.Fatalf("%+v is needed and does not stay: %+v", f, v)
			case !f.Sticky && !f.Needed && !v.Goes():
				t.Fatalf("%+v stays, though nothing wants it", f)
			case v.Refused && f.Status != storage.Ordered:
				t.Fatalf("%+v is refused, though it was not ordered", f)
			case v.Code != "" || !f.Sticky || !f.Needed && f.Status != storage.Present && f.Status != storage.Ordered:
				continue
			}
			stays[f.Project] += f.Bytes
			total += f.Bytes
			if !f.Needed && f.Status == storage.Present {
				idle[f.Project] += f.Bytes
				idleTotal += f.Bytes
			}
			for j, other := range s.Files {
				w := plan.Verdicts[j].Code
				limit := w == storage.ProjectLimit || w == storage.OverallLimit || w == storage.DiskLimit
				if limit && plan.Verdicts[j].Goes() && other.Project == f.Project && !f.Needed && f.Bytes > 0 && f.Status == storage.Present && f.Used.Before(other.Used) {
					t.Fatalf("%+v went and %+v, used before it, stays", other, f)
				}
			}
		}
		for p, project := range s.Projects {
			if project.Limit > 0 && stays[p] > project.Limit && idle[p] > 0 {
				t.Fatalf("project %d keeps %d bytes, of which %d could go; the limit is %d", p, stays[p], idle[p], project.Limit)
			}
		}
		if s.Limit > 0 && total > s.Limit && idleTotal > 0 {
			t.Fatalf("%d bytes stay, of which %d could go; the limit is %d", total, idleTotal, s.Limit)
		}
	})
}

// TestOrdersDisplaceTheirOwn checks that orders cost no other project a file.
func TestOrdersDisplaceTheirOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshots().Draw(t, "snapshot")
		orderer := rapid.IntRange(0, len(s.Projects)-1).Draw(t, "who orders")
		without := s
		without.Files = slices.Clone(s.Files)
		for i, f := range without.Files {
			if f.Status != storage.Ordered {
				continue
			}
			s.Files[i].Project = orderer
			s.Files[i].Needed = false
			without.Files[i] = storage.File{Name: f.Name, Project: orderer} // goes
		}
		with, before := storage.Decide(s), storage.Decide(without)
		for i, f := range s.Files {
			if f.Project != orderer && with.Verdicts[i].Goes() && !before.Verdicts[i].Goes() {
				t.Fatalf("%+v went for an order of another project: %+v", f, with.Verdicts[i])
			}
		}
	})
}

// TestOrderOfFiles checks that the plan does not depend on the order of the files.
func TestOrderOfFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshots().Draw(t, "snapshot")
		got := func(files []storage.File) map[string]storage.Verdict {
			s.Files = files
			all := make(map[string]storage.Verdict)
			for i, v := range storage.Decide(s).Verdicts {
				all[files[i].Name] = v
			}
			return all
		}
		first := got(s.Files)
		for name, v := range got(rapid.Permutation(s.Files).Draw(t, "other order")) {
			if first[name] != v {
				t.Fatalf("%s: %+v, and in another order %+v", name, first[name], v)
			}
		}
	})
}

func TestTexts(t *testing.T) {
	s := storage.Snapshot{Limit: 2 << 30, Projects: []storage.Project{{Limit: 3 << 29}}}
	if got := (storage.Verdict{Code: storage.ProjectLimit}).Text(s, storage.File{}); !strings.Contains(got, "1.5 GB (max_sticky_gb in its account file)") {
		t.Error(got)
	}
	if got := (storage.Verdict{Code: storage.OverallLimit}).Text(s, storage.File{}); !strings.Contains(got, "2 GB (max_sticky_gb in the preferences)") {
		t.Error(got)
	}
}
