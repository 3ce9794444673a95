// Package settings reads the volunteer's configuration of the agent: starling.toml and one file for
// each account. It never changes a file that a person wrote.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
)

// Names below the data directory.
const (
	File        = "starling.toml"
	PrefsFile   = "prefs.toml"
	AccountsDir = "accounts"

	// PrefsOverrideFile holds what tools changed, laid over PrefsFile.
	PrefsOverrideFile = "prefs_override.toml"
	// OverrideFile has changes by tools to the settings, which override File.
	OverrideFile = "starling_override.toml"
)

// Settings are the agent's own settings, not preferences about computing. Names are as in BOINC's
// cc_config.xml where it has one. The tags have the meaning of each, and Reference shows them to
// people.
type Settings struct {
	LogLevel                 string      `toml:"log_level" enum:"debug,info,warn,error" about:"how much is logged: debug, info, warn or error"`
	LogMaxMB                 int         `toml:"log_max_mb" unit:"MB" about:"stdout.log is rotated at this size; 0: no such file (nor is there one where systemd's journal has the log)"`
	LogKeep                  int         `toml:"log_keep" unit:"files" about:"how many rotated log files are kept"`
	NCPUs                    int         `toml:"ncpus" unit:"CPUs" about:"act as if the computer had this many CPUs; 0: the actual number"`
	CPUs                     string      `toml:"cpus" about:"the CPUs on which tasks may run, on Linux: performance or efficiency, if the processor has both kinds, or their numbers, such as 0-3,8; empty: all"`
	AllowMultipleClients     bool        `toml:"allow_multiple_clients" about:"several agents share this computer; projects are told so that they do not treat them as one"`
	NoPriorityChange         bool        `toml:"no_priority_change" about:"run applications at the agent's own priority instead of the lowest"`
	ReportResultsImmediately bool        `toml:"report_results_immediately" about:"report each result as soon as it is ready"`
	MaxFileXfers             int         `toml:"max_file_xfers" unit:"files" about:"how many files are transferred at the same time"`
	MaxFileXfersPerProject   int         `toml:"max_file_xfers_per_project" unit:"files" about:"how many of these may belong to one project"`
	Proxy                    string      `toml:"proxy" about:"proxy for connections to projects: http://HOST:PORT, https:// or socks5://, with USER:PASSWORD@ before HOST if it requires a login; direct: no proxy; empty: as set by HTTP_PROXY and HTTPS_PROXY in the environment"`
	NoProxy                  []string    `toml:"no_proxy" about:"hosts, domains (with a leading dot) and networks to connect to without the proxy"`
	ReleaseURL               string      `toml:"release_url" about:"where to check once a day for a newer version of Starling; the agent reports it but never updates itself; empty: do not check, for example where a package manager handles updates"`
	DeviceName               string      `toml:"device_name" about:"name shown to projects instead of the host name"`
	Venue                    string      `toml:"venue" enum:",home,work,school" about:"home, work or school: which section of the preferences applies here; empty: as set on the projects' web sites"`
	ExclusiveApps            []string    `toml:"exclusive_apps" about:"programs that need the computer to themselves: computing is suspended while one of them runs"`
	ExclusiveGPUApps         []string    `toml:"exclusive_gpu_apps" about:"programs that need the GPUs to themselves: nothing is computed on GPUs and other coprocessors while one of them runs"`
	Sandbox                  bool        `toml:"sandbox" about:"keep the projects' applications away from your files and from each other, where the system supports it"`
	SandboxNetwork           bool        `toml:"sandbox_network" about:"allow applications to use the network"`
	SandboxRead              []string    `toml:"sandbox_read" about:"additional folders and files that applications may read"`
	SandboxWrite             []string    `toml:"sandbox_write" about:"additional folders and files that applications may change"`
	Virtualization           bool        `toml:"virtualization" about:"let projects run virtual machines and containers with VirtualBox, Podman or Docker, if they are installed; the programs that start these (plan classes with vbox or docker in their name) run outside the sandbox, with all rights of the agent's user"`
	PassEnvironment          []string    `toml:"pass_environment" about:"environment variables of the agent that are passed to applications, in addition to the few that every program needs"`
	MaxProcesses             int         `toml:"max_processes" unit:"processes" about:"a task with more processes than this is aborted"`
	GUIRPCPort               int         `toml:"gui_rpc_port" about:"port for BOINC's tools; 0: disabled"`
	DashboardPort            int         `toml:"dashboard_port" about:"port of the dashboard for browsers on this computer; 0: disabled"`
	MetricsPort              int         `toml:"metrics_port" about:"port of /metrics for Prometheus on this computer; 0: disabled"`
	RemotePort               int         `toml:"remote_port" about:"port on which paired computers control this agent over TLS (see starling remote); usually 31419; 0: disabled"`
	Coprocs                  []Coproc    `toml:"coproc" about:"a kind of coprocessor that tasks may use and that the agent does not detect, as <coproc> in BOINC's cc_config.xml; repeat the section for others"`
	NoGPUs                   bool        `toml:"no_gpus" about:"do not use GPUs that the agent finds; declared coprocessors are used"`
	UseAllGPUs               bool        `toml:"use_all_gpus" about:"of several GPUs of one vendor use all, and not only the most capable and those as capable"`
	IgnoreGPUs               []IgnoreGPU `toml:"ignore_gpu" about:"GPUs that the agent finds and that no task may use, as <ignore_nvidia_dev> and its like in BOINC's cc_config.xml; repeat the section for others"`
	WattsPerCPU              float64     `toml:"watts_per_cpu" unit:"W" about:"power that a busy CPU draws, for the energy of tasks; 0: as measured by the processor, if the agent may read that"`
	WattsPerGPU              float64     `toml:"watts_per_gpu" unit:"W" about:"power that a GPU draws while a task uses it, likewise; 0: as measured by the GPU"`
	ShareEnergy              bool        `toml:"share_energy" about:"report the energy of each task to its project, if it is known and the project's server is one of Starling's, for the project's statistics"`
	DesktopNotifications     bool        `toml:"desktop_notifications" about:"show a notification in your desktop session when something needs you, at most one a day for each cause; needs starling session, on Linux"`
	TrayIcon                 bool        `toml:"tray_icon" about:"show an icon in the panel of your desktop, with a menu to pause and resume; needs starling session, on Linux"`
	Powers                   []Power     `toml:"power" about:"a number on which computing depends, such as the price of electricity or the charge of a battery; repeat the section for others"`
	LogFlags                 LogFlags    `toml:"log_flags" about:"which kinds of messages are logged, by BOINC's names"`
}

// Values of Settings.CPUs for a kind of CPU.
const (
	Performance = "performance"
	Efficiency  = "efficiency"
)

// maxWatts is the maximum power of a processor.
const maxWatts = 10000

// LogFlags has the log flags by name, and whether they are on.
type LogFlags map[string]bool

// Default returns what holds without a file.
func Default() Settings {
	return Settings{LogLevel: "info", LogMaxMB: 10, LogKeep: 3, MaxFileXfers: 8, MaxFileXfersPerProject: 2, GUIRPCPort: 31416, DashboardPort: 31418, Sandbox: true, SandboxNetwork: true, ReleaseURL: version.ReleaseURL, MaxProcesses: 256, DesktopNotifications: true, TrayIcon: true, LogFlags: logflag.Defaults()}
}

// Load reads starling.toml in the data directory and the changes by tools. A missing file means the
// defaults.
func Load(dataDir string) (Settings, error) {
	s, own, err := loadFile(Default(), filepath.Join(dataDir, File))
	if err != nil && !isFault(err) {
		return s, err
	}
	s, tools, errTools := loadFile(s, filepath.Join(dataDir, OverrideFile))
	return s, errors.Join(err, errTools, s.check(own, tools))
}

// MaxFile is the maximum size of a file that people edit, in bytes.
const MaxFile = 1 << 20

// loadFile lays a file over s.
func loadFile(s Settings, name string) (Settings, tomlfile.Lines, error) {
	src, err := foreigndir.ReadFile(name, MaxFile)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return s, tomlfile.Lines{}, err
	}
	return decode(s, name, src)
}

// decode lays the text of a file over s. A list of sections in it takes the place of one that
// was there, with nothing left of that.
func decode(s Settings, name string, src []byte) (Settings, tomlfile.Lines, error) {
	coprocs, ignored, powers := s.Coprocs, s.IgnoreGPUs, s.Powers
	s.Coprocs, s.IgnoreGPUs, s.Powers = nil, nil, nil
	lines, err := tomlfile.Decode(name, src, &s)
	if s.Coprocs == nil {
		s.Coprocs = coprocs
	}
	if s.IgnoreGPUs == nil {
		s.IgnoreGPUs = ignored
	}
	if s.Powers == nil {
		s.Powers = powers
	}
	return s, lines, err
}

// isFault reports whether an error concerns the content of a file, not the file.
func isFault(err error) bool {
	_, isPath := errors.AsType[*fs.PathError](err)
	return !isPath
}

// faults reports a fault of a key in the file that set it last.
type faults struct{ own, tools tomlfile.Lines }

func (f faults) of(key string) tomlfile.Lines {
	if f.tools.Has(key) {
		return f.tools
	}
	return f.own
}

func (f faults) Errorf(key, format string, args ...any) error {
	return f.of(key).Errorf(key, format, args...)
}

func (f faults) Unknown(key string, names []string) error { return f.of(key).Unknown(key, names) }

// check returns the faults of the values.
func (s Settings) check(own, tools tomlfile.Lines) error {
	lines := faults{own, tools}
	var errs []error
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, s.LogLevel) {
		errs = append(errs, lines.Errorf("log_level", "%q is not one of debug, info, warn, error", s.LogLevel))
	}
	if !slices.Contains([]string{"", "home", "work", "school"}, s.Venue) {
		errs = append(errs, lines.Errorf("venue", "%q is not one of home, work, school", s.Venue))
	}
	if err := httpclient.CheckProxy(s.Proxy); err != nil {
		errs = append(errs, lines.Errorf("proxy", "%v", err))
	}
	if u, err := url.Parse(s.ReleaseURL); s.ReleaseURL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		errs = append(errs, lines.Errorf("release_url", "%q is not a URL", s.ReleaseURL))
	}
	if s.NCPUs < 0 {
		errs = append(errs, lines.Errorf("ncpus", "%d is negative; use 0 for the actual number", s.NCPUs))
	}
	if _, err := resource.ParseCPUs(s.CPUs); err != nil && s.CPUs != "" && s.CPUs != Performance && s.CPUs != Efficiency {
		errs = append(errs, lines.Errorf("cpus", "%v; use performance, efficiency or a list such as 0-3,8", err))
	}
	if s.GUIRPCPort < 0 || s.GUIRPCPort > 65535 {
		errs = append(errs, lines.Errorf("gui_rpc_port", "%d is not a port number; use 0 to disable it", s.GUIRPCPort))
	}
	if s.DashboardPort < 0 || s.DashboardPort > 65535 {
		errs = append(errs, lines.Errorf("dashboard_port", "%d is not a port number; use 0 to disable it", s.DashboardPort))
	}
	if w := s.WattsPerCPU; !(w >= 0 && w <= maxWatts) {
		errs = append(errs, lines.Errorf("watts_per_cpu", "%v is not between 0 and %d", w, maxWatts))
	}
	if w := s.WattsPerGPU; !(w >= 0 && w <= maxWatts) {
		errs = append(errs, lines.Errorf("watts_per_gpu", "%v is not between 0 and %d", w, maxWatts))
	}
	if s.MaxProcesses < 4 {
		errs = append(errs, lines.Errorf("max_processes", "%d is too few, because wrappers need some themselves; use 4 or more", s.MaxProcesses))
	}
	if slices.Contains(s.ExclusiveApps, "") {
		errs = append(errs, lines.Errorf("exclusive_apps", "a name is empty; for no programs use []"))
	}
	if slices.Contains(s.ExclusiveGPUApps, "") {
		errs = append(errs, lines.Errorf("exclusive_gpu_apps", "a name is empty; for no programs use []"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.LogFlags)) {
		if !slices.Contains(logflag.Names, name) {
			errs = append(errs, lines.Unknown("log_flags."+name, logflag.Names))
		}
	}
	for _, v := range []struct {
		key            string
		n, least, most int
	}{
		{"max_file_xfers", s.MaxFileXfers, 1, 100},
		{"metrics_port", s.MetricsPort, 0, 65535},
		{"remote_port", s.RemotePort, 0, 65535},
		{"max_file_xfers_per_project", s.MaxFileXfersPerProject, 1, 100},
		{"log_max_mb", s.LogMaxMB, 0, 10000},
		{"log_keep", s.LogKeep, 1, 1000},
	} {
		if v.n < v.least || v.n > v.most {
			errs = append(errs, lines.Errorf(v.key, "%d is not between %d and %d", v.n, v.least, v.most))
		}
	}
	return errors.Join(slices.Concat(errs, s.checkCoprocs(lines), s.checkPowers(lines))...)
}

// An Account is a project that the volunteer chose, from its account file.
type Account struct {
	MasterURL      string                 `toml:"master_url" example:"https://project.example/" about:"the project's URL"`
	Authenticator  protocol.Authenticator `toml:"authenticator" example:"0123456789abcdef0123456789abcdef" about:"the account key shown on the project's web site"`
	ResourceShare  float64                `toml:"resource_share" about:"share of this computer, relative to the shares of the other projects; 0: only when no other project has work"`
	NoMoreWork     bool                   `toml:"no_more_work" about:"finish and report the current tasks, but fetch no more"`
	Suspended      bool                   `toml:"suspended" about:"do not compute for the project and fetch no work"`
	DetachWhenDone bool                   `toml:"detach_when_done" about:"fetch no more work, and detach once everything is reported"`
	Venue          string                 `toml:"venue" enum:",home,work,school" about:"home, work or school; overrides the project's web site"`
	MaxConcurrent  int                    `toml:"max_concurrent" unit:"tasks" about:"how many tasks run at the same time; 0: no limit"`
	MaxStickyGB    float64                `toml:"max_sticky_gb" unit:"GB" about:"how much disk space the files that the project stores here between tasks may use; 0: no limit for this project alone"`
	ExcludeGPUs    []ExcludeGPU           `toml:"exclude_gpu" about:"coprocessors that the project's tasks may not use, as <exclude_gpu> in BOINC's cc_config.xml; repeat the section for others"`
	Apps           []App                  `toml:"app" about:"settings for one application, as in BOINC's app_config.xml; repeat the section for others"`
	// Manager has the account manager's settings for the project, or is nil without any.
	Manager *Managed `toml:"-"`
}

// App has the volunteer's settings for one application of a project.
type App struct {
	Name              string  `toml:"name" about:"the application's short name"`
	MaxConcurrent     int     `toml:"max_concurrent" unit:"tasks" about:"how many tasks run at the same time; 0: no limit"`
	AvgNCPUs          float64 `toml:"avg_ncpus" unit:"CPUs" about:"CPUs that a task is assumed to use; 0: as set by the project"`
	GPUUsage          float64 `toml:"gpu_usage" unit:"devices" about:"coprocessors that a task for them is assumed to use, such as 0.5 for two tasks at the same time on each; 0: as set by the project"`
	CPUUsage          float64 `toml:"cpu_usage" unit:"CPUs" about:"CPUs that a task for coprocessors is assumed to use; 0: as set by the project"`
	Cmdline           string  `toml:"cmdline" about:"additional command-line arguments"`
	ReportImmediately bool    `toml:"report_results_immediately" about:"report its results as soon as they are ready"`
}

// App returns the settings for an application.
func (a Account) App(name string) App {
	for _, app := range a.Apps {
		if app.Name == name {
			return app
		}
	}
	return App{}
}

// accountFiles lists what may be account files, in order. Hidden ones are
// editors' own.
func accountFiles(dir string) ([]string, error) {
	names, err := foreigndir.ListDir(dir)
	if _, errStat := os.Lstat(dir); errors.Is(errStat, fs.ErrNotExist) { // Windows returns this error for a file, too
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		if strings.HasSuffix(name, ".toml") && !strings.HasSuffix(name, overrideSuffix) && !strings.HasPrefix(name, ".") {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths, nil
}

func init() { // so that a key in the wrong file is recognized
	tomlfile.Home("starling.toml", Settings{})
	tomlfile.Home("prefs.toml", prefs.Prefs{})
	tomlfile.Home("a project's account file", Account{})
}

// DefaultAccount returns the values of keys that an account file does not set.
func DefaultAccount() Account { return Account{ResourceShare: 100} }

// parseAccount parses an account file without its override.
func parseAccount(path string, src []byte) (Account, error) {
	a := DefaultAccount()
	lines, err := tomlfile.Decode(path, src, &a)
	if err != nil {
		return a, err
	}
	var errs []error
	if a.MasterURL == "" {
		errs = append(errs, lines.Errorf("master_url", "missing; add the project's URL: master_url = \"https://…\""))
	} else if a.MasterURL, err = protocol.CanonicalMasterURL(a.MasterURL); err != nil {
		errs = append(errs, lines.Errorf("master_url", "%v", err))
	}
	if a.Authenticator == "" {
		errs = append(errs, lines.Errorf("authenticator", "missing; copy the account key from the project's web site, or delete this file and run starling attach"))
	} else if !validKey(a.Authenticator) {
		errs = append(errs, lines.Errorf("authenticator", "not an account key; copy the one from the project's web site"))
	}
	if !validShare(a.ResourceShare) {
		errs = append(errs, lines.Errorf("resource_share", "%v is not between 0 and 1000000", a.ResourceShare))
	}
	if !(a.MaxStickyGB >= 0 && a.MaxStickyGB <= 1e6) {
		errs = append(errs, lines.Errorf("max_sticky_gb", "%v is not between 0 and 1000000", a.MaxStickyGB))
	}
	if !slices.Contains([]string{"", "home", "work", "school"}, a.Venue) {
		errs = append(errs, lines.Errorf("venue", "%q is not one of home, work, school", a.Venue))
	}
	errs = append(errs, checkApps(lines, &a.MaxConcurrent, a.Apps))
	return a, errors.Join(errs...)
}

// checkApps returns the faults of the limits of a project and its applications.
func checkApps(lines tomlfile.Lines, most *int, apps []App) error {
	var errs []error
	if most != nil && *most < 0 {
		errs = append(errs, lines.Errorf("max_concurrent", "%d is negative; use 0 for no limit", *most))
	}
	for i, app := range apps {
		key := fmt.Sprintf("app[%d].", i)
		if app.Name == "" {
			errs = append(errs, lines.Errorf(key+"name", "the short name of an application is required"))
		}
		if app.MaxConcurrent < 0 {
			errs = append(errs, lines.Errorf(key+"max_concurrent", "%d is negative; use 0 for no limit", app.MaxConcurrent))
		}
		if !(app.AvgNCPUs >= 0 && app.AvgNCPUs <= 1e4) {
			errs = append(errs, lines.Errorf(key+"avg_ncpus", "%v is not between 0 and 10000", app.AvgNCPUs))
		}
		if !(app.GPUUsage >= 0 && app.GPUUsage <= 64) {
			errs = append(errs, lines.Errorf(key+"gpu_usage", "%v is not between 0 and 64", app.GPUUsage))
		}
		if !(app.CPUUsage >= 0 && app.CPUUsage <= 1e4) {
			errs = append(errs, lines.Errorf(key+"cpu_usage", "%v is not between 0 and 10000", app.CPUUsage))
		}
	}
	return errors.Join(errs...)
}

func validShare(share float64) bool { return share >= 0 && share <= 1e6 }

// validKey reports whether a text can be an account key: visible ASCII that
// means nothing in XML.
func validKey(key protocol.Authenticator) bool {
	return key != "" && !strings.ContainsFunc(string(key), func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`<>&'"`, c)
	})
}

// MasterURL is protocol.CanonicalMasterURL for an address that a person wrote. Its error has a text for
// people.
func MasterURL(address string) (string, error) {
	u, err := protocol.CanonicalMasterURL(address)
	if e, ok := errors.AsType[*protocol.URLError](err); ok {
		err = words.Explain(err, words.T("master URL {url}: {fault}", "url", e.URL, "fault", words.T(e.Fault, "value", e.Value)))
	}
	return u, err
}

// AccountPath returns the path of the account file of a project.
func AccountPath(dataDir, masterURL string) string {
	return filepath.Join(dataDir, AccountsDir, protocol.EscapeURL(masterURL)+".toml")
}

// ErrAttached is returned if there is already an account file, ErrNotAttached if there is none.
var (
	ErrAttached    = errors.New("already attached")
	ErrNotAttached = errors.New("not attached")
)

// NotAttached is ErrNotAttached for a project.
func NotAttached(masterURL string) error {
	return words.Explain(ErrNotAttached, words.T("{url}: not attached", "url", masterURL))
}

func attached(masterURL, path string) error {
	return words.Explain(ErrAttached, words.T("{url}: already attached ({path})", "url", masterURL, "path", path))
}

// WriteAccount makes the account file of a project, readable by its owner only. It returns
// ErrAttached if there is one, whatever its name and origin. A detached account that can still be
// restored is restored as it was.
func WriteAccount(dataDir string, a Account) error {
	if !validKey(a.Authenticator) {
		return words.Refuse(words.T("{url}: not an account key; copy the one from the project's web site", "url", a.MasterURL))
	}
	path := AccountPath(dataDir, a.MasterURL)
	if _, err := os.Lstat(path); err == nil {
		return attached(a.MasterURL, path)
	}
	if other, err := findAccountFile(dataDir, a.MasterURL); err != nil {
		return err
	} else if other.path != "" {
		return attached(a.MasterURL, other.path)
	}
	if was, err := readAccountFile(detachedPath(dataDir, a.MasterURL)); err == nil && was.account.MasterURL == a.MasterURL && was.account.Authenticator == a.Authenticator {
		return RestoreAccount(dataDir, a.MasterURL)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text := tomlfile.SchemaLine(accountKind) + fmt.Sprintf(`# One project. The agent rereads this file when it changes and never rewrites it.
master_url = %q
authenticator = %q
# Share of this computer, relative to the shares of the other projects.
resource_share = %s
# true: finish and report the current tasks, but fetch no more.
no_more_work = %v
`, a.MasterURL, string(a.Authenticator), words.Float(a.ResourceShare), a.NoMoreWork)
	read, err := parseAccount(a.MasterURL, []byte(text))
	if err == nil && (read.MasterURL != a.MasterURL || read.Authenticator != a.Authenticator || read.ResourceShare != a.ResourceShare) {
		err = words.Refuse(words.T("{url}: use the address in its canonical form, {canonical}", "url", a.MasterURL, "canonical", read.MasterURL))
	}
	if err != nil {
		return words.Explain(err, words.T("not attached: {why}", "why", sysfault.Text(err)))
	}
	return atomicfile.Write(path, []byte(text), 0o600)
}
