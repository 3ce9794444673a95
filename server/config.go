package server

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// Config is what server.toml holds. Keys that BOINC's config.xml has carry its
// names.
type Config struct {
	LongName  string `toml:"long_name"`
	MasterURL string `toml:"master_url"`
	Listen    string `toml:"listen"`
	Database  string `toml:"database"`
	Files     string `toml:"files"`

	MinCoreVersion        string  `toml:"min_core_version"`
	DailyResultQuota      int     `toml:"daily_result_quota"`
	MinSendworkInterval   float64 `toml:"min_sendwork_interval"`
	NextRPCDelay          float64 `toml:"next_rpc_delay"`
	MaxWusToSend          int     `toml:"max_wus_to_send"`
	MaxWusInProgress      int     `toml:"max_wus_in_progress"`
	MaxNCPUs              int     `toml:"max_ncpus"`
	MaxInfeasible         int     `toml:"max_infeasible"`
	OneResultPerUserPerWU bool    `toml:"one_result_per_user_per_wu"`
	OneResultPerHostPerWU bool    `toml:"one_result_per_host_per_wu"`
	ResendLostResults     bool    `toml:"resend_lost_results"`
	SendResultAbort       bool    `toml:"send_result_abort"`

	ReliableOnPriority        int64   `toml:"reliable_on_priority"`
	ReliablePriorityOnOver    int64   `toml:"reliable_priority_on_over"`
	ReliableMaxAvgTurnaround  float64 `toml:"reliable_max_avg_turnaround"`
	ReliableMaxErrorRate      float64 `toml:"reliable_max_error_rate"`
	ReliableReducedDelayBound float64 `toml:"reliable_reduced_delay_bound"`

	AffinityHours          float64 `toml:"affinity_hours"`
	DeleteDelayHours       float64 `toml:"delete_delay_hours"`
	PurgeAfterDays         float64 `toml:"purge_after_days"`
	DisableAccountCreation bool    `toml:"disable_account_creation"`
	MinPasswdLength        int     `toml:"min_passwd_length"`
	Mail                   string  `toml:"mail"`
	MailFrom               string  `toml:"mail_from"`

	TrustedProxies           []string `toml:"trusted_proxies"`
	MaxRequestsPerAddress    int      `toml:"max_requests_per_address"`
	MaxRequestMB             float64  `toml:"max_request_mb"`
	MaxRequestMBPerAddress   float64  `toml:"max_request_mb_per_address"`
	MinTransferRate          float64  `toml:"min_transfer_rate"`
	MaxAccountsPerAddressDay int      `toml:"max_accounts_per_address_day"`
	MaxHostsPerUserDay       int      `toml:"max_hosts_per_user_day"`
	MaxWrongPasswords        int      `toml:"max_wrong_passwords"`
	MetricsAllow             []string `toml:"metrics_allow"`
	MetricsToken             string   `toml:"metrics_token"`

	PlanClass map[string]match.PlanClass `toml:"plan_class"`
}

// DefaultConfig is what holds where server.toml says nothing.
func DefaultConfig() Config {
	return Config{
		DailyResultQuota:      100,
		MinSendworkInterval:   6,
		MaxWusToSend:          10,
		MaxNCPUs:              64,
		OneResultPerHostPerWU: true,
		ResendLostResults:     true,
		SendResultAbort:       true,

		ReliableMaxErrorRate:      0.05,
		ReliableReducedDelayBound: 0.5,

		AffinityHours:    24,
		DeleteDelayHours: 24,
		MinPasswdLength:  6,
		Mail:             "mail",

		MaxRequestsPerAddress:    100,
		MaxRequestMB:             64,
		MaxRequestMBPerAddress:   16,
		MinTransferRate:          500,
		MaxAccountsPerAddressDay: 50,
		MaxHostsPerUserDay:       500,
		MaxWrongPasswords:        10,
		MetricsAllow:             []string{"127.0.0.1", "::1"},
	}
}

// configText is the server.toml of a new project.
func configText(c Config) string {
	return fmt.Sprintf(`# Settings of the project. Keys with an equal in BOINC carry the name that it
# has in BOINC's config.xml. A limit of 0 is switched off. The server reads
# this file when it starts.

# The project's name, as volunteers see it.
long_name = %q

# The address to which volunteers attach. Changing it later makes clients that
# are attached complain or start anew.
master_url = %q

# Where the server listens; "" listens on the port of master_url, or, if that
# begins with https, on 127.0.0.1:8080 for a proxy that speaks TLS.
listen = ""

# The database: "" is the file project.db beside this one (SQLite); a URL such as
# postgres://user:password@host/name is a database of a PostgreSQL server.
database = %q

# Where input and output files lie: "" is the folders download and upload beside this
# file; s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION is a bucket of an S3
# service (with &tls=false, one that speaks HTTP without TLS). The keys come from
# AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the server's environment, from
# ~/.aws/credentials, or from the machine's role.
files = %q

# The oldest version of BOINC's client that gets work, such as "7.4.22"; "" takes
# all. Starling's agent counts as the version of BOINC whose ways it follows.
min_core_version = %q

# Results that a computer may get a day, for each CPU. Errors lower it for a
# computer, down to 1, and good results raise it again.
daily_result_quota = %d

# Seconds between two requests of a computer that may both bring work.
min_sendwork_interval = %v

# Seconds after which clients contact the project again even if they need
# nothing; 0 leaves it to them.
next_rpc_delay = %v

# Results sent in one reply at most, and results a computer may have at a time,
# each for each CPU.
max_wus_to_send = %d
max_wus_in_progress = %d

# CPUs of a computer that count for these limits.
max_ncpus = %d

# Accounts with a computer that asked within the last 7 days and has too little memory,
# disk or bandwidth for a result, before its workunit is given up; 0 gives nothing up.
# Only accounts with credit count, and computers for which the application has a version.
# starling-server status shows what waits for such computers; work retry revives it.
max_infeasible = %d

# Whether a volunteer, or a computer, gets at most one result of a workunit.
# Results of one computer that agree prove little.
one_result_per_user_per_wu = %v
one_result_per_host_per_wu = %v

# Whether a computer that lost a result, or never received it, is sent it again.
resend_lost_results = %v

# Whether computers are told to abort results that are of no use any more.
send_result_abort = %v

# Urgent results are those of this priority and above; 0: none is. They go to reliable
# computers only, during the first 24 hours.
reliable_on_priority = %d

# By how much the priority of a result is raised that replaces one which failed, was late
# or did not agree with the others.
reliable_priority_on_over = %d

# A computer is reliable if it has had 10 valid results of an app version, returns them
# after so many seconds at most, on average (0: any time), and so small a share of the
# recent ones was no good.
reliable_max_avg_turnaround = %v
reliable_max_error_rate = %v

# Which part of its delay bound a computer has to report an urgent result, but at least
# twice the time that it should take; 0 leaves the delay bound.
reliable_reduced_delay_bound = %v

# Hours for which a workunit is kept for the computers that have the files of its
# predecessor (work create --predecessor); then all may have it.
affinity_hours = %v

# Hours for which the files of a workunit stay after the project has taken its outcome
# and the last result came in or was due. One that comes after its deadline is compared
# and gets credit so long, and work retry can revive what was given up.
delete_delay_hours = %v

# Days after which a workunit that is finished moves, with its results, from the
# database to archive/, counted from the deletion of its files; 0 keeps all.
# Files that are uploaded later still are deleted.
purge_after_days = %v

# Whether only the operator makes accounts (starling-server user add).
disable_account_creation = %v

# The shortest password that clients let people choose.
min_passwd_length = %d

# Where mail to volunteers goes: a folder beside this file, or a mail server,
# smtp://USER:PASSWORD@HOST:587 or smtps://…; "" sends none. It is sent as
# mail_from; "" is noreply at the host of master_url.
mail = %q
mail_from = %q

# Proxies in front of the server, by address or network: what they say in
# X-Forwarded-For is where a request comes from. Name yours, or the limits below
# treat all volunteers as one address. By default this computer if master_url begins
# with https, and otherwise none.
trusted_proxies = %s

# Requests of one address that are answered at a time.
max_requests_per_address = %d

# Megabytes that requests to the scheduler take in memory at a time, all together
# and from one address. What exceeds it waits, and is then told to come again.
max_request_mb = %v
max_request_mb_per_address = %v

# Bytes a second at which a client must send its request and take the answer, on
# average over half a minute; there is no other bound on how long a file may take.
# 0 asks for any progress within that time.
min_transfer_rate = %v

# Accounts made from one address a day, and computers added to one account a day.
max_accounts_per_address_day = %d
max_hosts_per_user_day = %d

# Wrong passwords for one account from one address; then one more a minute. The owner
# is not locked out elsewhere, and the account key always works.
max_wrong_passwords = %d

# Who may read the metrics page: addresses and networks, and whoever sends the token
# (Authorization: Bearer TOKEN); "" is none.
metrics_allow = %s
metrics_token = %q

# Plan classes: on which computers the app versions of a class run. For example
#
# [plan_class.mt]
# min_ncpus = 2            # CPUs that the computer may use, at least
# max_threads = 8          # CPUs that a task uses, at most; without: one
# nthreads_cmdline = true  # tell the program how many: --nthreads N
# cpu_feature = ["avx2"]   # what the processor must have, as it says itself
# min_memory_mb = 4096     # of the computer
# projected_flops_scale = 1.5  # speed, over that of the benchmark times CPUs
`, c.LongName, c.MasterURL, c.Database, c.Files, c.MinCoreVersion, c.DailyResultQuota, c.MinSendworkInterval, c.NextRPCDelay, c.MaxWusToSend,
		c.MaxWusInProgress, c.MaxNCPUs, c.MaxInfeasible, c.OneResultPerUserPerWU, c.OneResultPerHostPerWU, c.ResendLostResults,
		c.SendResultAbort, c.ReliableOnPriority, c.ReliablePriorityOnOver, c.ReliableMaxAvgTurnaround, c.ReliableMaxErrorRate,
		c.ReliableReducedDelayBound, c.AffinityHours, c.DeleteDelayHours, c.PurgeAfterDays, c.DisableAccountCreation, c.MinPasswdLength,
		c.Mail, c.MailFrom, tomlList(c.proxies()), c.MaxRequestsPerAddress, c.MaxRequestMB, c.MaxRequestMBPerAddress, c.MinTransferRate,
		c.MaxAccountsPerAddressDay, c.MaxHostsPerUserDay, c.MaxWrongPasswords, tomlList(c.MetricsAllow), c.MetricsToken)
}

func tomlList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// proxies returns trusted_proxies, or what it is by default: ListenAddr puts a project
// that is reached by https behind a proxy on the same computer.
func (c *Config) proxies() []string {
	if c.TrustedProxies == nil && strings.HasPrefix(c.MasterURL, "https:") {
		return []string{"127.0.0.1", "::1"}
	}
	return c.TrustedProxies
}

// readConfig reads DIR/server.toml. The error tells all that is wrong with it,
// each with file, line and key.
func readConfig(dir string) (Config, error) {
	name := filepath.Join(dir, "server.toml")
	text, err := os.ReadFile(name)
	if err != nil {
		return Config{}, fmt.Errorf("not a project's directory: %w", err)
	}
	return parseConfig(name, text)
}

func parseConfig(name string, text []byte) (Config, error) {
	c := DefaultConfig()
	lines, err := tomlfile.Decode(name, text, &c)
	if err != nil {
		return c, err
	}
	errs := c.check(lines)
	return c, errors.Join(errs...)
}

// check looks at the values.
func (c *Config) check(lines tomlfile.Lines) (errs []error) {
	bad := func(key, format string, args ...any) { errs = append(errs, lines.Errorf(key, format, args...)) }
	if strings.TrimSpace(c.LongName) == "" || len(c.LongName) > 254 {
		bad("long_name", "want a name of 1 to 254 bytes")
	}
	switch u, err := MasterURL(c.MasterURL); {
	case err != nil:
		bad("master_url", "%v", err)
	case u != c.MasterURL:
		bad("master_url", "%q is not in canonical form, want %q", c.MasterURL, u)
	}
	if c.Listen != "" {
		if _, _, err := net.SplitHostPort(c.Listen); err != nil {
			bad("listen", "%q is not an address, want HOST:PORT or :PORT", c.Listen)
		}
	}
	if c.Database != "" && !store.IsURL(c.Database) {
		bad("database", "want \"\" or a URL that begins with postgres://")
	}
	if _, err := limit.ParseProxies(c.TrustedProxies); err != nil {
		bad("trusted_proxies", "%v", err)
	}
	if _, err := limit.ParseProxies(c.MetricsAllow); err != nil {
		bad("metrics_allow", "%v", err)
	}
	if c.MetricsToken != "" && len(c.MetricsToken) < 16 {
		bad("metrics_token", "want at least 16 characters, or \"\" for none")
	}
	if _, err := coreVersion(c.MinCoreVersion); err != nil {
		bad("min_core_version", "%v", err)
	}
	for _, x := range []struct {
		key   string
		value float64
		most  float64
	}{
		{"daily_result_quota", float64(c.DailyResultQuota), 1e6},
		{"min_sendwork_interval", c.MinSendworkInterval, 86400},
		{"next_rpc_delay", c.NextRPCDelay, 14 * 86400},
		{"max_wus_to_send", float64(c.MaxWusToSend), 1e5},
		{"max_wus_in_progress", float64(c.MaxWusInProgress), 1e6},
		{"max_ncpus", float64(c.MaxNCPUs), 1e5},
		{"max_infeasible", float64(c.MaxInfeasible), 1e6},
		{"reliable_on_priority", float64(c.ReliableOnPriority), 1e9},
		{"reliable_priority_on_over", float64(c.ReliablePriorityOnOver), 1e9},
		{"reliable_max_avg_turnaround", c.ReliableMaxAvgTurnaround, 365 * 86400},
		{"reliable_max_error_rate", c.ReliableMaxErrorRate, 1},
		{"reliable_reduced_delay_bound", c.ReliableReducedDelayBound, 1},
		{"affinity_hours", c.AffinityHours, 24 * 365},
		{"delete_delay_hours", c.DeleteDelayHours, 24 * 3650},
		{"purge_after_days", c.PurgeAfterDays, 36500},
		{"min_passwd_length", float64(c.MinPasswdLength), 100},
		{"max_requests_per_address", float64(c.MaxRequestsPerAddress), 1e6},
		{"max_request_mb", c.MaxRequestMB, 1e6},
		{"max_request_mb_per_address", c.MaxRequestMBPerAddress, 1e6},
		{"min_transfer_rate", c.MinTransferRate, 1e6},
		{"max_accounts_per_address_day", float64(c.MaxAccountsPerAddressDay), 1e6},
		{"max_hosts_per_user_day", float64(c.MaxHostsPerUserDay), 1e5},
		{"max_wrong_passwords", float64(c.MaxWrongPasswords), 1e6},
	} {
		if !(x.value >= 0 && x.value <= x.most) {
			bad(x.key, "%v is out of range, want 0 to %v", x.value, x.most)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.PlanClass)) {
		for _, e := range c.PlanClass[name].Check() {
			bad("plan_class."+name+"."+e.Key, "%s", e.Text)
		}
		if !planClass.MatchString(name) || name == "" {
			bad("plan_class."+name, "want a name of letters, digits, '_', '-' and '.'")
		}
	}
	return errs
}

// coreVersion reads a client's version, MAJOR.MINOR[.RELEASE]; "" is none.
func coreVersion(s string) (v protocol.Version, err error) {
	if s == "" {
		return v, nil
	}
	parts := strings.Split(s, ".")
	into := []*int{&v.Major, &v.Minor, &v.Release}
	if len(parts) < 2 || len(parts) > len(into) {
		return v, fmt.Errorf("%q is not a version, want MAJOR.MINOR.RELEASE", s)
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 99 {
			return v, fmt.Errorf("%q is not a version, want MAJOR.MINOR.RELEASE", s)
		}
		*into[i] = n
	}
	return v, nil
}

// MasterURL returns the form of a project's address that clients agree with, or
// says why they would refuse it.
func MasterURL(s string) (string, error) {
	canonical, err := protocol.CanonicalMasterURL(s)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(canonical)
	if err != nil {
		return "", fmt.Errorf("master URL %.100q: %w", s, err)
	}
	if strings.ContainsAny(u.Path, "{}") || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("master URL %.100q: want scheme, host, port and path only", s)
	}
	return canonical, nil
}

// ListenAddr returns where the server listens by default: on the port of the
// master URL, everywhere, or on loopback alone if that is all the URL reaches.
func (c *Config) ListenAddr() string {
	if c.Listen != "" {
		return c.Listen
	}
	u, err := url.Parse(c.MasterURL)
	if err != nil {
		return ":80" // readConfig has checked it
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	switch ip := net.ParseIP(u.Hostname()); {
	case u.Scheme == "https":
		return "127.0.0.1:8080" // behind a proxy that speaks TLS
	case ip != nil && ip.IsLoopback():
		return net.JoinHostPort(u.Hostname(), port)
	default:
		return ":" + port
	}
}
