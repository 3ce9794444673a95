// Package settings reads the files by which a volunteer configures the agent:
// starling.toml and one file for each account. It never changes a file that a
// person wrote.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/protocol"
)

// Names below the data directory.
const (
	File        = "starling.toml"
	PrefsFile   = "prefs.toml"
	AccountsDir = "accounts"

	// PrefsOverrideFile holds what tools changed, laid over PrefsFile.
	PrefsOverrideFile = "prefs_override.toml"
)

// Settings are the agent's own settings, not preferences about computing. Names
// are those of BOINC's cc_config.xml where it has one.
type Settings struct {
	// LogLevel is debug, info, warn or error.
	LogLevel string `toml:"log_level"`
	// NCPUs is the number of CPUs to act as if there were; 0: those there are.
	NCPUs int `toml:"ncpus"`
	// AllowMultipleClients tells projects that several agents share this
	// computer, so that they are not taken for one.
	AllowMultipleClients bool `toml:"allow_multiple_clients"`
	// NoPriorityChange runs applications at the agent's own priority instead of the
	// lowest.
	NoPriorityChange bool `toml:"no_priority_change"`
	// ReportResultsImmediately reports each result as soon as it is ready.
	ReportResultsImmediately bool `toml:"report_results_immediately"`
	// MaxFileXfers is how many files are transferred at once.
	MaxFileXfers int `toml:"max_file_xfers"`
	// MaxFileXfersPerProject is how many of those belong to one project.
	MaxFileXfersPerProject int `toml:"max_file_xfers_per_project"`
	// DeviceName is told to projects in place of the host's name.
	DeviceName string `toml:"device_name"`
	// Venue is home, work or school: which section of preferences holds here,
	// whatever the projects' web sites say. "": as they say.
	Venue string `toml:"venue"`
	// ExclusiveApps are programs that want the computer for themselves: while one
	// runs, tasks do not.
	ExclusiveApps []string `toml:"exclusive_apps"`
	// Sandbox keeps what projects send away from your files and from other
	// projects', where the system can.
	Sandbox bool `toml:"sandbox"`
	// SandboxNetwork lets applications use the network.
	SandboxNetwork bool `toml:"sandbox_network"`
	// SandboxRead and SandboxWrite are further folders and files that
	// applications may read, or change as well.
	SandboxRead  []string `toml:"sandbox_read"`
	SandboxWrite []string `toml:"sandbox_write"`
	// PassEnvironment names variables of the agent's environment that applications
	// get; beside these it is only the few that every program needs.
	PassEnvironment []string `toml:"pass_environment"`
	// MaxProcesses is how many processes a task may have; one that has more is
	// aborted.
	MaxProcesses int `toml:"max_processes"`
	// GUIRPCPort is where BOINC's tools connect; 0: nowhere.
	GUIRPCPort int `toml:"gui_rpc_port"`
	// DashboardPort is where a browser on this computer finds the dashboard; 0:
	// nowhere.
	DashboardPort int `toml:"dashboard_port"`
	// LogFlags switch kinds of lines in the log on and off, with BOINC's names: see
	// package logflag.
	LogFlags map[string]bool `toml:"log_flags"`
}

// IdleFlags are the log flags that are set and have no effect here, in order.
func (s Settings) IdleFlags() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.LogFlags)), func(name string) bool { return !slices.Contains(logflag.Idle, name) })
}

// Default returns what holds without a file.
func Default() Settings {
	return Settings{LogLevel: "info", MaxFileXfers: 8, MaxFileXfersPerProject: 2, GUIRPCPort: 31416, DashboardPort: 31418, Sandbox: true, SandboxNetwork: true, MaxProcesses: 256}
}

// Load reads starling.toml in the data directory; a missing file means the
// defaults.
func Load(dataDir string) (Settings, error) {
	s := Default()
	name := filepath.Join(dataDir, File)
	src, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return s, err
	}
	lines, err := tomlfile.Decode(name, src, &s)
	errs := []error{err}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, s.LogLevel) {
		errs = append(errs, lines.Errorf("log_level", "%q is not debug, info, warn or error", s.LogLevel))
	}
	if !slices.Contains([]string{"", "home", "work", "school"}, s.Venue) {
		errs = append(errs, lines.Errorf("venue", "%q is not home, work or school", s.Venue))
	}
	if s.NCPUs < 0 {
		errs = append(errs, lines.Errorf("ncpus", "%d is negative; 0 means those there are", s.NCPUs))
	}
	if s.GUIRPCPort < 0 || s.GUIRPCPort > 65535 {
		errs = append(errs, lines.Errorf("gui_rpc_port", "%d is no port; 0 means none", s.GUIRPCPort))
	}
	if s.DashboardPort < 0 || s.DashboardPort > 65535 {
		errs = append(errs, lines.Errorf("dashboard_port", "%d is no port; 0 means none", s.DashboardPort))
	}
	if s.MaxProcesses < 4 {
		errs = append(errs, lines.Errorf("max_processes", "%d is too few: wrappers need some for themselves; want 4 or more", s.MaxProcesses))
	}
	for _, name := range slices.Sorted(maps.Keys(s.LogFlags)) {
		if !slices.Contains(logflag.Effective, name) && !slices.Contains(logflag.Idle, name) {
			errs = append(errs, lines.Unknown("log_flags."+name, logflag.Effective))
		}
	}
	for _, v := range []struct {
		key string
		n   int
	}{
		{"max_file_xfers", s.MaxFileXfers},
		{"max_file_xfers_per_project", s.MaxFileXfersPerProject},
	} {
		if v.n < 1 || v.n > 100 {
			errs = append(errs, lines.Errorf(v.key, "%d is not within 1 and 100", v.n))
		}
	}
	return s, errors.Join(errs...)
}

// An Account is a project that the volunteer chose, from its account file.
type Account struct {
	// MasterURL is the project's address.
	MasterURL string `toml:"master_url"`
	// Authenticator is the account key.
	Authenticator protocol.Authenticator `toml:"authenticator"`
	// ResourceShare is the project's share of the computer relative to the
	// others'. Projects with 0 get work only when no other has any.
	ResourceShare float64 `toml:"resource_share"`
	// NoMoreWork stops fetching; what is there is finished and reported.
	NoMoreWork bool `toml:"no_more_work"`
	// Suspended stops computing for the project, and fetching.
	Suspended bool `toml:"suspended"`
	// Venue is home, work or school, in place of what the project's web site says.
	Venue string `toml:"venue"`
	// MaxConcurrent is how many of its tasks run at once; 0: no limit.
	MaxConcurrent int `toml:"max_concurrent"`
	// Apps are settings for single applications, as in BOINC's app_config.xml.
	Apps []App `toml:"app"`
}

// App is what the volunteer sets for one application of a project.
type App struct {
	Name          string  `toml:"name"`
	MaxConcurrent int     `toml:"max_concurrent"` // how many of its tasks run at once; 0: no limit
	AvgNCPUs      float64 `toml:"avg_ncpus"`      // CPUs that a task is taken to use; 0: as the project says
	Cmdline       string  `toml:"cmdline"`        // further arguments
	// ReportImmediately reports its results as soon as they are ready.
	ReportImmediately bool `toml:"report_results_immediately"`
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

// LoadAccounts reads all account files. Each bad one is part of the error and
// the good ones are returned all the same, so that one slip does not stop the
// others' work; the paths of bad files come back too. A folder that cannot be
// read is one of these: unreadable must not look like empty.
func LoadAccounts(dataDir string) (good []Account, bad []string, err error) {
	paths, err := accountFiles(dataDir)
	if err != nil {
		return nil, []string{filepath.Join(dataDir, AccountsDir)}, err
	}
	var errs []error
	seen := make(map[string]string)
	for _, path := range paths {
		a, err := loadAccount(path)
		if err == nil && seen[protocol.EscapeURL(a.MasterURL)] != "" {
			err = fmt.Errorf("%s: %s already has the account file %s", path, a.MasterURL, seen[protocol.EscapeURL(a.MasterURL)])
		}
		if err != nil {
			errs = append(errs, err)
			bad = append(bad, path)
			continue
		}
		seen[protocol.EscapeURL(a.MasterURL)] = path
		good = append(good, a)
	}
	return good, bad, errors.Join(errs...)
}

// accountFiles lists what may be account files, in order. Hidden ones are
// editors' own.
func accountFiles(dataDir string) ([]string, error) {
	dir := filepath.Join(dataDir, AccountsDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".toml") && !strings.HasSuffix(name, overrideSuffix) && !strings.HasPrefix(name, ".") {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths, nil
}

func loadAccount(path string) (Account, error) {
	a := Account{ResourceShare: 100}
	src, err := os.ReadFile(path)
	if err != nil {
		return a, err
	}
	lines, err := tomlfile.Decode(path, src, &a)
	if err != nil {
		return a, err
	}
	var errs []error
	if a.MasterURL, err = protocol.CanonicalMasterURL(a.MasterURL); err != nil {
		errs = append(errs, lines.Errorf("master_url", "%v", err))
	}
	if !validKey(a.Authenticator) {
		errs = append(errs, lines.Errorf("authenticator", "want the account key that the project's web site shows"))
	}
	if !(a.ResourceShare >= 0 && a.ResourceShare <= 1e6) {
		errs = append(errs, lines.Errorf("resource_share", "%v is not within 0 and 1000000", a.ResourceShare))
	}
	if !slices.Contains([]string{"", "home", "work", "school"}, a.Venue) {
		errs = append(errs, lines.Errorf("venue", "%q is not home, work or school", a.Venue))
	}
	if a.MaxConcurrent < 0 {
		errs = append(errs, lines.Errorf("max_concurrent", "%d is negative; 0 means no limit", a.MaxConcurrent))
	}
	for i, app := range a.Apps {
		key := fmt.Sprintf("app[%d].", i)
		if app.Name == "" {
			errs = append(errs, lines.Errorf(key+"name", "want the short name of an application"))
		}
		if app.MaxConcurrent < 0 {
			errs = append(errs, lines.Errorf(key+"max_concurrent", "%d is negative; 0 means no limit", app.MaxConcurrent))
		}
		if !(app.AvgNCPUs >= 0 && app.AvgNCPUs <= 1e4) {
			errs = append(errs, lines.Errorf(key+"avg_ncpus", "%v is not within 0 and 10000", app.AvgNCPUs))
		}
	}
	errs = append(errs, a.override(path))
	return a, errors.Join(errs...)
}

// validKey reports whether a text can be an account key: visible ASCII that
// means nothing in XML.
func validKey(key protocol.Authenticator) bool {
	return key != "" && !strings.ContainsFunc(string(key), func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`<>&'"`, c)
	})
}

// AccountPath is where the account file of a project lies.
func AccountPath(dataDir, masterURL string) string {
	return filepath.Join(dataDir, AccountsDir, protocol.EscapeURL(masterURL)+".toml")
}

// ErrAttached says that there is an account file already.
var ErrAttached = errors.New("already attached")

// WriteAccount makes the account file of a project, readable by its owner only.
// It returns ErrAttached when there is one, whoever wrote it and whatever its
// name.
func WriteAccount(dataDir string, a Account) error {
	if !validKey(a.Authenticator) {
		return fmt.Errorf("%s: the account key is not one; want the key that the project's web site shows", a.MasterURL)
	}
	path := AccountPath(dataDir, a.MasterURL)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w (%s)", a.MasterURL, ErrAttached, path)
	}
	if other, err := findAccount(dataDir, a.MasterURL); err != nil {
		return err
	} else if other != "" {
		return fmt.Errorf("%s: %w (%s)", a.MasterURL, ErrAttached, other)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf(`# One project. The agent rereads this file when it changes and never rewrites it.
master_url = %q
authenticator = %q
# Share of the computer, relative to the other projects' shares.
resource_share = %v
# true: finish and report what is here, fetch no more.
no_more_work = %v
`, a.MasterURL, string(a.Authenticator), a.ResourceShare, a.NoMoreWork)
	return atomicfile.Write(path, []byte(text), 0o600)
}

// RemoveAccount deletes the account file of a project, which is how it is
// detached. The file may have any name; its content counts.
func RemoveAccount(dataDir, masterURL string) error {
	path, err := findAccount(dataDir, masterURL)
	if err != nil {
		return err
	}
	if path == "" {
		return fmt.Errorf("%s: not attached", masterURL)
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	if err := os.Remove(overridePath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// findAccount returns the path of the good account file of a project, "" if
// there is none.
func findAccount(dataDir, masterURL string) (string, error) {
	paths, err := accountFiles(dataDir)
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		if a, err := loadAccount(path); err == nil && a.MasterURL == masterURL {
			return path, nil
		}
	}
	return "", nil
}
