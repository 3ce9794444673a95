package view

import (
	"reflect"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// The view of a result's expected outputs shows the ones that arrived, with the details from their
// host, and the ones that did not.
func TestOutputs(t *testing.T) {
	in := protocol.FileInfo{Name: "a_0_r1_0", MaxNBytes: 1000}.XML() + protocol.FileInfo{Name: "a_0_r1_1", MaxNBytes: 50}.XML() +
		protocol.FileInfo{Name: "a_0_r1_2", MaxNBytes: 60}.XML() +
		protocol.Result{Name: "a_0", WorkunitName: "a", FileRefs: []protocol.FileRef{
			{FileName: "a_0_r1_0", OpenName: "out"}, {FileName: "a_0_r1_1", OpenName: "log", Optional: true}, {FileName: "a_0_r1_2"},
		}}.XML()
	out := protocol.FileInfo{Name: "a_0_r1_0", NBytes: 5, MD5: "6137cde4893c59f76f005a8123d8e8e6"}.XML() +
		protocol.FileInfo{Name: "a_0_r1_2", NBytes: 61}.XML() +
		protocol.FileInfo{Name: "stranger", NBytes: 1}.XML()
	got, err := outputs(store.Result{Name: "a_0", XMLDocIn: in, XMLDocOut: out, Outcome: store.Success})
	want := []File{
		{Name: "a_0_r1_0", Logical: "out", NBytes: 5, MD5: "6137cde4893c59f76f005a8123d8e8e6", MaxNBytes: 1000},
		{Name: "a_0_r1_1", Logical: "log", MaxNBytes: 50, Optional: true, Missing: true},
		{Name: "a_0_r1_2", Logical: "a_0_r1_2", NBytes: 61, MaxNBytes: 60},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if got, err := outputs(store.Result{Name: "a_0", XMLDocIn: in}); err != nil || len(got) != 3 || got[1].Missing {
		t.Errorf("of one that is not over: %+v, %v", got, err)
	}
}

// A volunteer's name for a computer must neither break a table nor control the terminal.
func TestCells(t *testing.T) {
	for in, want := range map[string]string{"": "-", "a\tb\n\x1b[2J": "a?b??[2J", "größe": "größe", "\u009b31m": "?31m"} {
		if got := Cell(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
