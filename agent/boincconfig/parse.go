package boincconfig

import (
	"slices"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/bxml"
)

// A Config is the content of a cc_config.xml.
type Config struct {
	Changes     []Change
	Options     bool                             // there are options, and options not among them have their defaults
	ExcludeGPUs map[string][]settings.ExcludeGPU // by the project's master URL
	// Unused are the options without an equivalent here that differ from BOINC's defaults, each
	// once and in order.
	Unused []string
}

// A Change is the effect of the elements with one name on the settings.
type Change struct {
	Element string
	Apply   func(*settings.Settings)
}

// Apply makes all changes. Settings that the file does not have stay.
func (c Config) Apply(o *settings.Settings) {
	for _, change := range c.Changes {
		change.Apply(o)
	}
}

func (c *Config) change(element string, apply func(*settings.Settings)) {
	c.Changes = append(c.Changes, Change{element, apply})
}

// Parse reads a cc_config.xml.
func Parse(src []byte) (Config, error) {
	var c Config
	s := bxml.NewScanner(src)
	if err := s.Find("cc_config"); err != nil {
		return c, err
	}
	for section := range s.Children() {
		switch section {
		case "log_flags":
			c.logFlags(s)
		case "options":
			c.options(s)
		}
	}
	slices.Sort(c.Unused)
	c.Unused = slices.Compact(c.Unused)
	return c, s.Err()
}

func (c *Config) logFlags(s *bxml.Scanner) {
	for name := range s.Children() {
		switch on := s.Flag(); {
		case slices.Contains(logflag.Names, name):
			c.change(name, func(o *settings.Settings) { o.LogFlags[name] = on })
		case on:
			c.Unused = append(c.Unused, name)
		}
	}
}

func (c *Config) options(s *bxml.Scanner) {
	c.Options = true
	programs, onGPU := []string{}, []string{} // an empty list means none
	var d devices
	for name := range s.Children() {
		switch name {
		case "exclusive_app":
			programs = append(programs, s.Text())
		case "exclusive_gpu_app":
			onGPU = append(onGPU, s.Text())
		case "device_name":
			text := s.Text()
			c.change(name, func(o *settings.Settings) { o.DeviceName = text })
		case "ncpus", "max_file_xfers", "max_file_xfers_per_project":
			var n int64
			s.Int(&n)
			c.change(name, func(o *settings.Settings) { *number(o, name) = max(0, int(n)) })
		case "allow_multiple_clients", "no_priority_change", "report_results_immediately", "no_gpus", "use_all_gpus":
			on := s.Flag()
			c.change(name, func(o *settings.Settings) { *flagOf(o, name) = on })
		case "proxy_info":
			if proxy, except := scanProxy(s, true); proxy != "" {
				c.change(name, func(o *settings.Settings) { o.Proxy, o.NoProxy = proxy, except })
			}
		case "exclude_gpu":
			c.exclude(s)
		default:
			if !d.scan(s, name) && !usual(name, s.Text()) {
				c.Unused = append(c.Unused, name)
			}
		}
	}
	c.change("exclusive_app", func(o *settings.Settings) { o.ExclusiveApps = programs })
	c.change("exclusive_gpu_app", func(o *settings.Settings) { o.ExclusiveGPUApps = onGPU })
	d.changes(c)
}

func number(o *settings.Settings, name string) *int {
	switch name {
	case "max_file_xfers":
		return &o.MaxFileXfers
	case "max_file_xfers_per_project":
		return &o.MaxFileXfersPerProject
	}
	return &o.NCPUs
}

func flagOf(o *settings.Settings, name string) *bool {
	switch name {
	case "allow_multiple_clients":
		return &o.AllowMultipleClients
	case "no_priority_change":
		return &o.NoPriorityChange
	case "no_gpus":
		return &o.NoGPUs
	case "use_all_gpus":
		return &o.UseAllGPUs
	}
	return &o.ReportResultsImmediately
}
