package settings

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/tomlfile"
)

// toolKeys are the settings that tools may change, and that take effect without a restart. Lists
// replace those in the volunteer's file.
type toolKeys struct {
	NCPUs                    *int            `toml:"ncpus"`
	AllowMultipleClients     *bool           `toml:"allow_multiple_clients"`
	NoPriorityChange         *bool           `toml:"no_priority_change"`
	ReportResultsImmediately *bool           `toml:"report_results_immediately"`
	MaxFileXfers             *int            `toml:"max_file_xfers"`
	MaxFileXfersPerProject   *int            `toml:"max_file_xfers_per_project"`
	Proxy                    *string         `toml:"proxy"`
	NoProxy                  []string        `toml:"no_proxy"`
	DeviceName               *string         `toml:"device_name"`
	ExclusiveApps            []string        `toml:"exclusive_apps"`
	ExclusiveGPUApps         []string        `toml:"exclusive_gpu_apps"`
	NoGPUs                   *bool           `toml:"no_gpus"`
	UseAllGPUs               *bool           `toml:"use_all_gpus"`
	Coprocs                  []Coproc        `toml:"coproc"`
	IgnoreGPUs               []IgnoreGPU     `toml:"ignore_gpu"`
	LogFlags                 map[string]bool `toml:"log_flags,omitempty"`
}

// Adopt copies the settings that tools may change from n. The others need a restart.
func (s *Settings) Adopt(n Settings) {
	s.NCPUs, s.AllowMultipleClients, s.NoPriorityChange = n.NCPUs, n.AllowMultipleClients, n.NoPriorityChange
	s.ReportResultsImmediately, s.MaxFileXfers, s.MaxFileXfersPerProject = n.ReportResultsImmediately, n.MaxFileXfers, n.MaxFileXfersPerProject
	s.Proxy, s.NoProxy, s.DeviceName, s.LogFlags = n.Proxy, n.NoProxy, n.DeviceName, n.LogFlags
	s.ExclusiveApps, s.ExclusiveGPUApps = n.ExclusiveApps, n.ExclusiveGPUApps
	s.WattsPerCPU, s.WattsPerGPU, s.ShareEnergy = n.WattsPerCPU, n.WattsPerGPU, n.ShareEnergy
	s.Powers, s.DesktopNotifications, s.TrayIcon = n.Powers, n.DesktopNotifications, n.TrayIcon
	s.NoGPUs, s.UseAllGPUs, s.Coprocs, s.IgnoreGPUs = n.NoGPUs, n.UseAllGPUs, n.Coprocs, n.IgnoreGPUs
}

// ChangeSettings has change alter the settings in effect, and writes the differences from the
// volunteer's own file. It leaves keys alone that tools may not change. nil removes all changes by
// tools. A wrong value is refused and nothing changes.
func ChangeSettings(dataDir string, change func(*Settings)) error {
	own, _, err := loadFile(Default(), filepath.Join(dataDir, File))
	if err != nil {
		return err
	}
	wanted, err := Load(dataDir)
	if err != nil {
		return err
	}
	wanted.LogFlags = maps.Clone(wanted.LogFlags)
	if change == nil {
		wanted = own
	} else {
		change(&wanted)
	}
	if err := wanted.check(tomlfile.Lines{}, tomlfile.Lines{}); err != nil {
		return err
	}
	o := difference(own, wanted)
	path := filepath.Join(dataDir, OverrideFile)
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(o); err != nil {
		return err
	}
	if b.Len() == 0 {
		return errors.Join(remove(path), dropKept(dataDir, OverrideFile))
	}
	read := own
	read.LogFlags = maps.Clone(own.LogFlags)
	read, lines, err := decode(read, OverrideFile, b.Bytes())
	if err == nil {
		err = read.check(tomlfile.Lines{}, lines)
	}
	if err := sameAgain(OverrideFile, o, difference(own, read), err); err != nil {
		return err
	}
	text := fmt.Sprintf("# Settings changed by tools. They override %s; delete a line to return to the\n# value there.\n%s", File, &b)
	return atomicfile.Write(path, []byte(text), 0o600)
}

func difference(own, wanted Settings) (o toolKeys) {
	o.NCPUs = unlike(own.NCPUs, wanted.NCPUs)
	o.AllowMultipleClients = unlike(own.AllowMultipleClients, wanted.AllowMultipleClients)
	o.NoPriorityChange = unlike(own.NoPriorityChange, wanted.NoPriorityChange)
	o.ReportResultsImmediately = unlike(own.ReportResultsImmediately, wanted.ReportResultsImmediately)
	o.MaxFileXfers = unlike(own.MaxFileXfers, wanted.MaxFileXfers)
	o.MaxFileXfersPerProject = unlike(own.MaxFileXfersPerProject, wanted.MaxFileXfersPerProject)
	o.Proxy, o.DeviceName = unlike(own.Proxy, wanted.Proxy), unlike(own.DeviceName, wanted.DeviceName)
	if !slices.Equal(own.NoProxy, wanted.NoProxy) {
		o.NoProxy = append([]string{}, wanted.NoProxy...) // even if the list is empty
	}
	if !slices.Equal(own.ExclusiveApps, wanted.ExclusiveApps) {
		o.ExclusiveApps = append([]string{}, wanted.ExclusiveApps...)
	}
	if !slices.Equal(own.ExclusiveGPUApps, wanted.ExclusiveGPUApps) {
		o.ExclusiveGPUApps = append([]string{}, wanted.ExclusiveGPUApps...)
	}
	o.NoGPUs, o.UseAllGPUs = unlike(own.NoGPUs, wanted.NoGPUs), unlike(own.UseAllGPUs, wanted.UseAllGPUs)
	if !reflect.DeepEqual(own.Coprocs, wanted.Coprocs) {
		o.Coprocs = append([]Coproc{}, wanted.Coprocs...) // even if the list is empty
	}
	if !reflect.DeepEqual(own.IgnoreGPUs, wanted.IgnoreGPUs) {
		o.IgnoreGPUs = append([]IgnoreGPU{}, wanted.IgnoreGPUs...)
	}
	for name, on := range wanted.LogFlags {
		if before, known := own.LogFlags[name]; before != on || !known {
			if o.LogFlags == nil {
				o.LogFlags = make(map[string]bool)
			}
			o.LogFlags[name] = on
		}
	}
	return o
}

func unlike[T comparable](own, wanted T) *T {
	if own == wanted {
		return nil
	}
	return &wanted
}
