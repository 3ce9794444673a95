package settings_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
)

// A new file has the values that differ from the defaults, and is read back as the same.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	s := settings.Default()
	s.NCPUs, s.UseAllGPUs, s.ExclusiveApps, s.Sandbox, s.NoProxy = 2, true, []string{`a "game"`}, false, []string{}
	s.LogFlags["task_debug"] = true
	s.Coprocs = []settings.Coproc{{Type: "fake", Count: 2, PeakFlops: 1e10}, {Type: "other", Count: 1, Devices: []int{4}}}
	must(t, settings.WriteNew(dir, "About it.", s))
	b, err := os.ReadFile(filepath.Join(dir, settings.File))
	want := `#:schema https://raw.githubusercontent.com/starling-grid/starling/main/schema/starling.toml.json
# About it.
exclusive_apps = ["a \"game\""]
ncpus = 2
sandbox = false
use_all_gpus = true

[[coproc]]
count = 2
peak_flops = 1e+10
type = "fake"

[[coproc]]
count = 1
device_nums = [4]
type = "other"

[log_flags]
task_debug = true
`
	if err != nil || string(b) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, b, want)
	}
	read, err := settings.Load(dir)
	s.NoProxy = nil
	if err != nil || !reflect.DeepEqual(read, s) {
		t.Errorf("%v, read %+v, want %+v", err, read, s)
	}
	if err := settings.WriteNew(dir, "Again.", s); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if text := s.TOML(settings.Default(), read); text != "" {
		t.Errorf("a difference of nothing is\n%s", text)
	}
	read.NCPUs = 3
	if text := s.TOML(settings.Default(), read); text != "ncpus = 2\n" {
		t.Errorf("the difference is\n%s", text)
	}
}

// What would not be read again is not written.
func TestWriteNewRefuses(t *testing.T) {
	dir := t.TempDir()
	s := settings.Default()
	s.MaxFileXfers = 200
	if err := settings.WriteNew(dir, "About it.", s); err == nil {
		t.Error("a value that is too large was written")
	}
	if _, err := os.Lstat(filepath.Join(dir, settings.File)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is there: %v", err)
	}
}
