package project

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/setting"
)

// intro and foot are before and after the settings. rest is between the settings that most projects
// change and the others.
const (
	intro = `# Settings of the project. A key that exists in BOINC has the name it has in
# BOINC's config.xml. A limit of 0 means no limit. The server reads this file
# when it starts, and again on SIGHUP (systemctl reload). Addresses, TLS,
# database and files require a restart: the log lists such changes.
`
	rest = `
# The other settings. Most projects can leave them as they are.
`
	foot = `
# Plan classes: which computers can run the app versions of a class. For example
#
# [plan_class.mt]
# min_ncpus = 2            # minimum number of CPUs that the computer may use
# max_threads = 8          # maximum number of CPUs that a task uses (default: 1)
# nthreads_cmdline = true  # pass that number to the program: --nthreads N
# cpu_feature = ["avx2"]   # features that the processor must report
# min_memory_mb = 4096     # memory of the computer
# projected_flops_scale = 1.5  # speed relative to the benchmark times the CPUs
#
# [plan_class.cuda]
# gpu_type = "nvidia"      # nvidia, amd, intel_gpu, apple_gpu, or the name of another coprocessor
# min_gpu_ram_mb = 2000    # memory of each device
# min_driver_version = 45000
# cuda = true
# min_cuda_version = 11000
# gpu_peak_flops_scale = 0.2  # the part of the peak speed that the program reaches
# cpu_frac = 0.02          # the part of the operations that the CPU does
# ngpus = 0.5              # devices that a task uses (default: 1)
#
# [plan_class.vbox64]
# virtualbox = true        # the program runs in VirtualBox; docker = true: in Podman or Docker
# is64bit = true           # in a virtual machine of 64 bits
# vm_accel_required = true # the processor must support virtual machines
`
)

// Text returns the server.toml of a new project: every setting with its meaning, and its value in
// c, except plan classes.
func (c *Config) Text() string {
	shown := *c
	shown.TrustedProxies = c.Proxies()
	var b strings.Builder
	b.WriteString(tomlfile.SchemaLine("server.toml") + intro)
	first, others := shown.parted()
	for _, k := range first {
		describe(&b, k)
	}
	b.WriteString(rest)
	for _, s := range others {
		b.WriteString("\n# --- " + s.title + " ---\n")
		for _, k := range s.keys {
			describe(&b, k)
		}
	}
	b.WriteString(foot)
	return b.String()
}

// describe writes a setting.
func describe(b *strings.Builder, k setting.Key) {
	b.WriteString("\n" + comment(k.About))
	if preset := preset(k); preset != "" {
		b.WriteString("# Default: " + preset + "\n")
	}
	fmt.Fprintf(b, "%s = %s\n", k.Name, literal(k.Value()))
}

// preset returns the default of a setting as TOML has it, or "" if the setting is required or the
// default depends on other settings.
func preset(k setting.Key) string {
	if v := reflect.ValueOf(k.Default); k.Required || v.Kind() == reflect.Slice && v.IsNil() {
		return ""
	}
	return literal(k.Default)
}

// comment returns a text as lines of a comment.
func comment(text string) string {
	const width = 88
	var b strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// literal is a value as TOML has it.
func literal(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		words := make([]string, len(v))
		for i, s := range v {
			words[i] = quote(s)
		}
		return "[" + strings.Join(words, ", ") + "]"
	case badge.Ladder:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	}
	return fmt.Sprint(value)
}

func quote(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
