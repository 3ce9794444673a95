package life

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// An application version of an image lists its layers, which a slot does not need, and its
// description.
func TestImageOfAVersion(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	c := &core.Core{Log: slog.New(slog.DiscardHandler), DB: db}
	l := &Life{Core: c, Disk: &usage.Disk{Core: c}}
	layer := protocol.ImageLayer{DiffID: strings.Repeat("0a", 32)}.FileName()
	v := state.AppVersion{Project: "http://a.example/"}
	v.FileRefs = []protocol.FileRef{{FileName: "wrap_1", MainProgram: true}, {FileName: layer}, {FileName: "image_1.json", OpenName: protocol.ImageFile}}
	m, err := l.image(v)
	if err != nil || m.Description != "image_1.json" || len(m.Layers) != 1 || m.Layers[0].Physical != layer || m.Room <= 0 {
		t.Errorf("got %+v, %v", m, err)
	}
	v.FileRefs = v.FileRefs[:2]
	if _, err := l.image(v); err == nil {
		t.Error("a version without a description is accepted")
	}
}

// The obstacles to an image are explained in its volunteer's words.
func TestObstaclesToImages(t *testing.T) {
	for err, want := range map[error][2]string{
		&executor.RoomError{Need: 3 << 30, Room: 1 << 30}: {"needs 3 GB of disk space", "in the preferences"},
		executor.ErrNoImages:                              {"cannot run on this computer now", "starling doctor"},
		&gpus.MissingError{File: "libcuda.so.550.90.07"}:  {"has no libcuda.so.550.90.07", "restart the computer"},
	} {
		o := ofStart(fmt.Errorf("start r: %w", err))
		if !strings.Contains(o.Text(time.Now()).String(), want[0]) || !strings.Contains(o.Cure("").String(), want[1]) {
			t.Errorf("%v: got %q, %q", err, o.Text(time.Now()), o.Cure(""))
		}
	}
}
