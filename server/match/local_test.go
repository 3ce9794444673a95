package match_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

func TestFilesOfTheHost(t *testing.T) {
	described := protocol.Elements{Files: []protocol.FileInfo{{Name: "data", NBytes: 1000}, {Name: "more", NBytes: 10}, {Name: "unsized"}}}
	var xml, made string
	for _, f := range described.Files {
		xml += f.XML()
	}
	made = xml + protocol.FileInfo{Name: "state", GeneratedLocally: true}.XML()
	held := func(names ...string) (list []protocol.FileInfo) {
		for _, n := range names {
			list = append(list, protocol.FileInfo{Name: n, NBytes: 7, Status: 1})
		}
		return list
	}
	for _, tt := range []struct {
		name  string
		doc   string
		files []protocol.FileInfo
		until time.Time
		local int64
		fits  bool
	}{
		{"it has none", xml, nil, time.Time{}, 0, true},
		{"it has others", xml, held("other"), time.Time{}, 0, true},
		{"it has some, by the size that they really have", xml, held("data", "unsized", "other"), time.Time{}, 1001, true},
		{"it is still to fetch them", xml, []protocol.FileInfo{{Name: "data"}}, time.Time{}, 0, true},
		{"it may not have the task", xml, held("data"), t0.Add(time.Hour), 0, false},
		{"a file that only a host has is elsewhere", made, held("data"), time.Time{}, 0, false},
		{"a file that only a host has is here", made, held("state"), time.Time{}, 1, true},
		{"a description that cannot be read", "<file_info>", held("data"), time.Time{}, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.facts.Request.Files = tt.files
			w.add(func(c *store.Candidate) { c.XMLDoc, c.ReservedUntil = tt.doc, tt.until })
			c := w.list[0]
			m := match.NewHost(w.facts).Match(w.standing)
			if got := m.Local(&c); got != tt.local {
				t.Errorf("%d bytes are here, want %d", got, tt.local)
			}
			if len(m.Noted()) > 0 {
				t.Error("looking was counted as a refusal")
			}
			if got := m.Fits(&c); got != tt.fits {
				t.Errorf("it may have it: %v, want %v", got, tt.fits)
			}
			if r := m.Refusals(); !tt.fits && (len(r) != 1 || r[0].Code != protocol.RefusedReserved) {
				t.Errorf("refused for %+v", r)
			}
		})
	}
}
