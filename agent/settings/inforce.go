package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/tomlfile"
)

// InForce returns the settings in effect. If starling.toml or the changes by tools have errors, the
// correct keys count, and the others keep their last good values or have their defaults. faults has
// the faults. err is set if the settings cannot be decided safely: the faults may concern the
// sandbox or the proxy, and there is no earlier version.
func InForce(dataDir string, now time.Time) (s Settings, faults, err error) {
	s = Default()
	_, strict := Load(dataDir)
	var notes []error
	for _, name := range []string{File, OverrideFile} {
		text, note, unsafe := inForce(s, dataDir, name, now)
		if unsafe != nil {
			return s, nil, errors.Join(strict, unsafe)
		}
		notes = append(notes, note)
		for _, src := range text {
			s = lay(s, src)
		}
	}
	return s, errors.Join(append([]error{strict}, notes...)...), nil
}

// inForce returns the texts of a file that apply over s, in the order in which they apply, and a
// note about them.
func inForce(s Settings, dataDir, name string, now time.Time) (texts [][]byte, note, unsafe error) {
	path := filepath.Join(dataDir, name)
	kept, since := LastGood(dataDir, name)
	src, err := foreigndir.ReadFile(path, MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if note = Missing(dataDir, name, now); note == nil {
			return nil, nil, nil
		}
		return [][]byte{kept}, note, nil
	case err != nil && kept == nil:
		return nil, nil, fmt.Errorf("%s cannot be read, and there is no copy of an earlier version", path)
	case err != nil:
		return [][]byte{kept}, staysInEffect(path, since), nil
	}
	_, fault := decodeSettings(s, "", src)
	if fault == nil {
		return [][]byte{src}, nil, nil
	}
	if kept == nil {
		if about := faultAbout(fault, src); about != "" {
			return nil, nil, fmt.Errorf("%s: the agent will not start, because errors in the file may affect %s and it cannot know what to allow; fix the file", path, about)
		}
		return [][]byte{src}, staysInEffect(path, since), nil
	}
	return [][]byte{kept, src}, staysInEffect(path, since), nil
}

// faultAbout returns the protecting setting that a faulty file may concern, or "".
func faultAbout(fault error, src []byte) string {
	text := fault.Error()
	var raw map[string]any
	if _, err := toml.Decode(string(src), &raw); err != nil {
		text = string(src) // any line of it
	}
	for line := range strings.Lines(text) {
		for _, about := range []string{"sandbox", "virtualization", "proxy", "pass_environment"} {
			if strings.Contains(line, about) && !strings.Contains(line, "log_flags.") {
				return about
			}
		}
	}
	return ""
}

func decodeSettings(s Settings, path string, src []byte) (Settings, error) {
	s.LogFlags = maps.Clone(s.LogFlags)
	lines, err := tomlfile.Decode(path, src, &s)
	if err == nil {
		err = s.check(lines, tomlfile.Lines{})
	}
	return s, err
}

// lay lays those keys of a text over s that are right.
func lay(s Settings, src []byte) Settings {
	if n, err := decodeSettings(s, "", src); err == nil {
		return n
	}
	var raw map[string]any
	if _, err := toml.Decode(string(src), &raw); err != nil {
		return s
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		table, isTable := raw[key].(map[string]any)
		if !isTable {
			s = layKey(s, map[string]any{key: raw[key]})
		}
		for _, name := range slices.Sorted(maps.Keys(table)) {
			s = layKey(s, map[string]any{key: map[string]any{name: table[name]}})
		}
	}
	return s
}

func layKey(s Settings, one map[string]any) Settings {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(one); err != nil {
		return s
	}
	if n, err := decodeSettings(s, "", b.Bytes()); err == nil {
		return n
	}
	return s
}

// KeepSettings keeps starling.toml and what tools changed of it, as far as they are
// in order.
func KeepSettings(dataDir string, now time.Time) error {
	if _, err := Load(dataDir); err != nil {
		return nil //nolint:nilerr // what was kept before stays
	}
	var errs []error
	for _, name := range []string{File, OverrideFile} {
		src, err := foreigndir.ReadFile(filepath.Join(dataDir, name), MaxFile)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = Keep(dataDir, name, src, now)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
