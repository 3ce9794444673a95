package project

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/untaken"
)

// Config has the settings in server.toml. Keys that exist in BOINC's config.xml have the same names
// here. See the list of settings for the meaning, default and allowed values of each key.
type Config struct {
	LongName  string `toml:"long_name"`
	MasterURL string `toml:"master_url"`
	Listen    string `toml:"listen"`

	AdminListen string `toml:"admin_listen"`

	FormerURLs []string `toml:"former_urls"`

	TLS            bool   `toml:"tls"`
	TLSCert        string `toml:"tls_cert"`
	TLSKey         string `toml:"tls_key"`
	ACMEEmail      string `toml:"acme_email"`
	ACMEDirectory  string `toml:"acme_directory"`
	RedirectListen string `toml:"redirect_listen"`

	Database string `toml:"database"`
	Files    string `toml:"files"`

	SchedulerURLs []string `toml:"scheduler_urls"`
	DownloadURLs  []string `toml:"download_urls"`
	WebhookURLs   []string `toml:"webhook_urls"`
	MaxFetchMB    float64  `toml:"max_fetch_mb"`
	FetchPrivate  bool     `toml:"fetch_private"`

	MinCoreVersion        string  `toml:"min_core_version"`
	DailyResultQuota      int     `toml:"daily_result_quota"`
	MinSendworkInterval   float64 `toml:"min_sendwork_interval"`
	NextRPCDelay          float64 `toml:"next_rpc_delay"`
	MaxWusToSend          int     `toml:"max_wus_to_send"`
	MaxWusInProgress      int     `toml:"max_wus_in_progress"`
	MaxWusInProgressGPU   int     `toml:"max_wus_in_progress_gpu"`
	GPUMultiplier         int     `toml:"gpu_multiplier"`
	MaxNCPUs              int     `toml:"max_ncpus"`
	MaxInfeasible         int     `toml:"max_infeasible"`
	OneResultPerUserPerWU bool    `toml:"one_result_per_user_per_wu"`
	OneResultPerHostPerWU bool    `toml:"one_result_per_host_per_wu"`
	IdleIgnoreDelayBound  bool    `toml:"idle_ignore_delay_bound"`
	AnonymousPlatform     bool    `toml:"anonymous_platform"`
	ResendLostResults     bool    `toml:"resend_lost_results"`
	SendResultAbort       bool    `toml:"send_result_abort"`

	ReliableOnPriority        int64   `toml:"reliable_on_priority"`
	ReliablePriorityOnOver    int64   `toml:"reliable_priority_on_over"`
	ReliableBatchEnd          int     `toml:"reliable_batch_end"`
	ReliableMaxAvgTurnaround  float64 `toml:"reliable_max_avg_turnaround"`
	ReliableMaxErrorRate      float64 `toml:"reliable_max_error_rate"`
	ReliableReducedDelayBound float64 `toml:"reliable_reduced_delay_bound"`

	AffinityHours          float64      `toml:"affinity_hours"`
	AffinitySilenceMinutes float64      `toml:"affinity_silence_minutes"`
	AffinityGoneDays       float64      `toml:"affinity_gone_days"`
	AffinityCopies         bool         `toml:"affinity_copies"`
	DeleteDelayHours       float64      `toml:"delete_delay_hours"`
	PurgeAfterDays         float64      `toml:"purge_after_days"`
	ValidatorsAtOnce       int          `toml:"validators_at_once"`
	AssimilatorsAtOnce     int          `toml:"assimilators_at_once"`
	ResultsFolders         string       `toml:"results_folders"`
	DisableAccountCreation bool         `toml:"disable_account_creation"`
	Badges                 badge.Ladder `toml:"badges"`
	Invitations            []string     `toml:"invitations"`
	ConfirmEmail           bool         `toml:"confirm_email"`
	MinPasswdLength        int          `toml:"min_passwd_length"`
	Mail                   string       `toml:"mail"`
	MailFrom               string       `toml:"mail_from"`

	TrustedProxies           []string `toml:"trusted_proxies"`
	ForwardedHeader          string   `toml:"forwarded_header"`
	MaxConnectionsPerAddress int      `toml:"max_connections_per_address"`
	MaxWaitingHosts          int      `toml:"max_waiting_hosts"`
	MaxRequestsPerAddress    int      `toml:"max_requests_per_address"`
	MaxRequestMB             float64  `toml:"max_request_mb"`
	MaxSpoolMB               float64  `toml:"max_spool_mb"`
	MaxRequestMBPerAddress   float64  `toml:"max_request_mb_per_address"`
	MinTransferRate          float64  `toml:"min_transfer_rate"`
	MaxAccountsPerAddressDay int      `toml:"max_accounts_per_address_day"`
	MaxHostsPerUserDay       int      `toml:"max_hosts_per_user_day"`
	MaxWrongPasswords        int      `toml:"max_wrong_passwords"`
	MetricsAllow             []string `toml:"metrics_allow"`
	MetricsToken             string   `toml:"metrics_token"`

	PlanClassSpec string `toml:"plan_class_spec"`

	PlanClass map[string]match.PlanClass `toml:"plan_class"`
}

// Once returns whether volunteers or computers get at most one result of a workunit.
func (c *Config) Once() untaken.Once {
	return untaken.Once{PerUser: c.OneResultPerUserPerWU, PerHost: c.OneResultPerHostPerWU}
}

// Affinity returns the times for which workunits of chains are reserved.
func (c *Config) Affinity() affinity.Rules {
	return affinity.Rules{Most: protocol.Seconds(c.AffinityHours * 3600), Silence: protocol.Seconds(c.AffinitySilenceMinutes * 60), Gone: protocol.Seconds(c.AffinityGoneDays * 86400), Copies: c.AffinityCopies}
}

// DefaultConfig returns the settings for an empty server.toml.
func DefaultConfig() Config {
	var c Config
	fields := c.fields()
	for _, set := range settings {
		switch f := fields[set.name]; preset := set.preset.(type) {
		case nil:
		case []string:
			f.Set(reflect.ValueOf(slices.Clone(preset)))
		case badge.Ladder:
			f.Set(reflect.ValueOf(slices.Clone(preset)))
		default:
			f.Set(reflect.ValueOf(preset).Convert(f.Type()))
		}
	}
	return c
}

// fields returns the fields of c by the names of their keys.
func (c *Config) fields() map[string]reflect.Value {
	byName := make(map[string]reflect.Value)
	v := reflect.ValueOf(c).Elem()
	for f := range v.Type().Fields() {
		byName[f.Tag.Get("toml")] = v.FieldByIndex(f.Index)
	}
	return byName
}

// ProcessorOf returns the kind of coprocessor on which the app versions of a plan class compute, by
// BOINC's name. For the CPUs it returns "".
func (c Config) ProcessorOf(planClass string) string { return c.PlanClass[planClass].Kind() }

// Text returns the server.toml of a new project: every setting with its meaning, and its value in
// c, except plan classes.
func (c *Config) Text() string {
	said := *c
	said.TrustedProxies = c.Proxies()
	fields := said.fields()
	var b strings.Builder
	b.WriteString(head)
	for _, set := range settings {
		if set.about != "" {
			b.WriteString("\n# " + strings.ReplaceAll(set.about, "\n", "\n# ") + "\n")
		}
		fmt.Fprintf(&b, "%s = %s\n", set.name, literal(fields[set.name].Interface()))
	}
	b.WriteString(foot)
	return b.String()
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

// Proxies returns trusted_proxies, or its default: for a project that is reached by https,
// ListenAddr assumes a proxy on the same computer.
func (c *Config) Proxies() []string {
	if c.TrustedProxies == nil && strings.HasPrefix(c.MasterURL, "https:") && !c.TLS {
		return []string{"127.0.0.1", "::1"}
	}
	return c.TrustedProxies
}

// ReadConfig reads DIR/server.toml. The error lists all the mistakes, each with file, line and key.
func ReadConfig(dir string) (Config, error) {
	name := filepath.Join(dir, "server.toml")
	text, err := os.ReadFile(name)
	if err != nil {
		return Config{}, fmt.Errorf("not a project's directory: %w", err)
	}
	c, err := ParseConfig(name, text)
	if err != nil {
		return c, err
	}
	return c, c.addPlanSpec(dir)
}

// ParseConfig parses the settings in text, which is the content of the file name, without the files
// that the settings name. The error lists all the mistakes, each with file, line and key.
func ParseConfig(name string, text []byte) (Config, error) {
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
	fields := c.fields()
	for _, set := range settings {
		if set.check != nil {
			if err := set.check(c); err != nil {
				bad(set.name, "%v", err)
			}
		}
		n, is := number(fields[set.name])
		if is && !(n >= 0 && n <= set.most) {
			bad(set.name, "%v is out of range, want 0 to %v", n, set.most)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.PlanClass)) {
		for _, e := range c.PlanClass[name].Check() {
			bad("plan_class."+name+"."+e.Key, "%s", e.Text)
		}
		if !ValidPlanClass(name) || name == "" {
			bad("plan_class."+name, "want a name of letters, digits, '_', '-' and '.'")
		}
	}
	return errs
}

func number(v reflect.Value) (n float64, is bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// CoreVersion parses a client's version, MAJOR.MINOR[.RELEASE]. The empty string is the zero
// version.
func CoreVersion(s string) (v protocol.Version, err error) {
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

var planClass = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,64}$`)

// ValidPlanClass reports whether a plan class may have that name. The empty string is not a plan
// class.
func ValidPlanClass(name string) bool { return planClass.MatchString(name) }

// Schedulers returns the addresses at which clients reach the scheduler.
func (c *Config) Schedulers() []string {
	if len(c.SchedulerURLs) > 0 {
		return c.SchedulerURLs
	}
	return []string{c.MasterURL + "cgi"}
}

// checkTLS returns an error for TLS settings that cannot be served.
func checkTLS(c *Config) error {
	u, err := url.Parse(c.MasterURL)
	switch {
	case !c.TLS || err != nil:
		return nil
	case u.Scheme != "https":
		return errors.New("master_url does not start with https")
	case c.TLSCert == "" && net.ParseIP(u.Hostname()) != nil:
		return errors.New("a certificate for an address has to come from files: set tls_cert and tls_key")
	}
	return nil
}

// checkFormer finds addresses that no project can have.
func checkFormer(c *Config) error {
	for _, s := range c.FormerURLs {
		u, err := MasterURL(s)
		switch {
		case err != nil:
			return err
		case u != s:
			return fmt.Errorf("%q is not in canonical form, want %q", s, u)
		}
	}
	return nil
}

// checkDownloads finds addresses from which clients could fetch nothing.
func checkDownloads(c *Config) error {
	for i, s := range c.DownloadURLs {
		u, err := url.Parse(s)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
			u.User != nil || !strings.HasSuffix(s, "/") || len(s) > 150 || strings.ContainsAny(s, "&'+<>\" ") {
			return fmt.Errorf("%.100q is not the address of a folder, want http:// or https://, a slash at the end and at most 150 plain characters", s)
		}
		if slices.Contains(c.DownloadURLs[:i], s) {
			return fmt.Errorf("%q is listed twice", s)
		}
	}
	return nil
}

// checkSchedulers finds addresses that clients would pass over.
func checkSchedulers(c *Config) error {
	for i, u := range c.SchedulerURLs {
		// The page is read as clients read it, 255 bytes at a time.
		got, err := protocol.SchedulerURLs([]byte("<scheduler>" + u + "</scheduler>"))
		if err != nil || got[0] != u || len(u) > 200 || strings.ContainsAny(u, "&'+") {
			return fmt.Errorf("%.100q is not an address of a scheduler, want http:// or https:// and at most 200 plain characters", u)
		}
		if slices.Contains(c.SchedulerURLs[:i], u) {
			return fmt.Errorf("%q is listed twice", u)
		}
	}
	return nil
}

// MasterURL returns a project's address in the form that clients use, or an error if they would
// refuse it.
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
		return ":80" // ReadConfig has checked it
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	switch ip := net.ParseIP(u.Hostname()); {
	case u.Scheme == "https" && !c.TLS:
		return "127.0.0.1:8080" // behind a proxy that speaks TLS
	case ip != nil && ip.IsLoopback():
		return net.JoinHostPort(u.Hostname(), port)
	default:
		return ":" + port
	}
}

// UseTLS turns tls on, or returns the reason why that is not possible.
func (c *Config) UseTLS() error {
	on := *c
	on.TLS = true
	if err := checkTLS(&on); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	*c = on
	return nil
}
