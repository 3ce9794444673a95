package project

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/webhook"
)

// A setting is a key of server.toml. What is to be known of it stands here and nowhere
// else: what it means, what holds without it, and which values it takes. The field of
// Config that has its name holds it.
type setting struct {
	name    string
	about   string  // lines of the comment above it; "" leaves it to the setting before
	preset  any     // what holds without it; nil: "", 0, false or nothing
	most    float64 // of a number, which is 0 or more
	check   func(c *Config) error
	restart bool // a server that runs does not take a new value up
}

// settings are all but the plan classes, in the order of the file.
var settings = []setting{
	{
		name:  "long_name",
		about: `The project's name, as volunteers see it.`,
		check: func(c *Config) error {
			if strings.TrimSpace(c.LongName) == "" || len(c.LongName) > 254 {
				return errors.New("want a name of 1 to 254 bytes")
			}
			return nil
		},
	},
	{
		name: "master_url", restart: true,
		about: `The address that volunteers attach to. If you change it later, attached clients
complain or start over.`,
		check: func(c *Config) error {
			u, err := MasterURL(c.MasterURL)
			if err == nil && u != c.MasterURL {
				err = fmt.Errorf("%q is not in canonical form, want %q", c.MasterURL, u)
			}
			return err
		},
	},
	{
		name: "former_urls", preset: []string{}, check: checkFormer,
		about: `Addresses that master_url had before. Clients that know one of these are answered
there, as long as its host leads to this server, and people are sent on.`,
	},
	{
		name: "listen", restart: true,
		about: `Where the server listens; "" listens on the port of master_url, or, if that starts
with https and tls is false, on 127.0.0.1:8080 for a proxy that speaks TLS.`,
		check: func(c *Config) error {
			if _, _, err := net.SplitHostPort(c.Listen); err != nil && c.Listen != "" {
				return fmt.Errorf("%q is not an address, want HOST:PORT or :PORT", c.Listen)
			}
			return nil
		},
	},
	{
		name: "tls", restart: true, check: checkTLS,
		about: `Whether the server speaks TLS itself: with the certificate in tls_cert, or, if that is
"", with one that it gets and renews from acme_directory, whose terms you accept with
this. The service sends notices to acme_email; its address "" is Let's Encrypt. It has to reach
port 443 of master_url's host, or port 80 if redirect_listen is ":80".`,
	},
	{
		name: "acme_email", restart: true,
	},
	{
		name: "acme_directory", restart: true,
		check: func(c *Config) error {
			if c.ACMEDirectory != "" && !strings.HasPrefix(c.ACMEDirectory, "https://") {
				return errors.New("want a URL that starts with https://, or \"\"")
			}
			return nil
		},
	},
	{
		name: "tls_cert", restart: true,
		about: `Files with the certificate (and those that vouch for it) and its key, in PEM, beside
this one or by their paths. They are read again when they change.`,
		check: func(c *Config) error {
			if (c.TLSCert == "") != (c.TLSKey == "") {
				return errors.New("tls_cert and tls_key need each other")
			}
			return nil
		},
	},
	{
		name: "tls_key", restart: true,
	},
	{
		name: "redirect_listen", restart: true,
		about: `Where clients that come without TLS are sent to master_url, usually ":80"; "" is
nowhere.`,
		check: func(c *Config) error {
			if _, _, err := net.SplitHostPort(c.RedirectListen); err != nil && c.RedirectListen != "" {
				return fmt.Errorf("%q is not an address, want HOST:PORT or :PORT", c.RedirectListen)
			}
			return nil
		},
	},
	{
		name: "admin_listen", restart: true,
		about: `Where the server answers its operator: pages for a browser (starling-server admin prints a
link), /metrics (for Prometheus), /healthz, /readyz and /debug/pprof/. For example 127.0.0.1:8081; "" is nowhere. Processes of one project
on one computer each need their own (serve --admin-listen). Not for the public: see
metrics_allow.`,
		check: func(c *Config) error {
			if _, _, err := net.SplitHostPort(c.AdminListen); err != nil && c.AdminListen != "" {
				return fmt.Errorf("%q is not an address, want HOST:PORT or :PORT", c.AdminListen)
			}
			return nil
		},
	},
	{
		name: "scheduler_urls", preset: []string{}, check: checkSchedulers,
		about: `The addresses of the scheduler, one for each front end that takes requests; clients
choose one at random and try the others when it fails. [] is master_url followed by
"cgi". A front end with an address of its own forwards to that.`,
	},
	{
		name: "download_urls", preset: []string{}, check: checkDownloads,
		about: `Mirrors of the download folder, or a CDN in front of it, such as
https://cdn.example.org/mine/download/. Clients try them in this order, and at last
the project itself, which also fills the CDN. Files never change under their names.`,
	},
	{
		name: "webhook_urls", preset: []string{},
		about: `The beginnings of addresses that senders of batches may have told when a batch is done,
such as https://lab.example.org/hooks/. The server sends requests there, so allow only
what you would let it reach. [] sends none. See docs/api.md.`,
		check: func(c *Config) error {
			for _, s := range c.WebhookURLs {
				if u, err := url.Parse(s); err != nil || u.Host == "" || u.User != nil || !webhook.Allowed(u.JoinPath("x").String(), []string{s}) {
					return fmt.Errorf("%q is not a URL that addresses can start with, such as https://lab.example.org/hooks/", s)
				}
			}
			return nil
		},
	},
	{
		name: "max_fetch_mb", preset: 1000, most: 1e6,
		about: `Megabytes that the project fetches for one batch of the HTTP API whose input files are
to be copied from other servers; 0: it fetches nothing. See docs/api.md.`,
	},
	{
		name: "fetch_private",
		about: `Whether it also fetches from addresses that are not public, such as 127.0.0.1 and
10.0.0.7. Whoever has a token can then have it fetch what only your network can reach.`,
	},
	{
		name: "database", restart: true,
		about: `The database: "" is the file project.db beside this one (SQLite); a URL such as
postgres://user:password@host/name is a database of a PostgreSQL server.`,
		check: func(c *Config) error {
			if c.Database != "" && !store.IsURL(c.Database) {
				return errors.New("want \"\" or a URL that starts with postgres://")
			}
			return nil
		},
	},
	{
		name: "files", restart: true,
		about: `Where input and output files are stored: "" is the folders download and upload beside this
file; s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION is a bucket of an S3
service (with &tls=false, one that speaks HTTP without TLS). The keys come from
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the server's environment, from
~/.aws/credentials, or from the machine's role.`,
	},
	{
		name: "min_core_version",
		about: `The oldest version of BOINC's client that gets work, such as "7.4.22"; "" accepts
all. Starling's agent counts as the version of BOINC that it is compatible with.`,
		check: func(c *Config) error {
			_, err := CoreVersion(c.MinCoreVersion)
			return err
		},
	},
	{
		name: "daily_result_quota", preset: 100, most: 1e6,
		about: `Results that a computer may get each day, for each CPU. Errors lower a computer's
quota, down to 1, and good results raise it again.`,
	},
	{
		name: "min_sendwork_interval", preset: 6, most: 86400,
		about: `Minimum number of seconds between two requests of a computer that bring work.`,
	},
	{
		name: "next_rpc_delay", most: 14 * 86400,
		about: `Seconds after which clients contact the project again even if they need nothing; 0
lets them decide.`,
	},
	{
		name: "max_wus_to_send", preset: 10, most: 1e5,
		about: `Most results sent in one reply, and most results for CPUs that a computer may have
at a time, both for each CPU.`,
	},
	{
		name: "max_wus_in_progress", most: 1e6,
	},
	{
		name: "max_wus_in_progress_gpu", most: 1e6,
		about: `Most results for GPUs (or other coprocessors) of one kind that a computer may have at
a time, for each of these.`,
	},
	{
		name: "gpu_multiplier", preset: 1, most: 1000,
		about: `As how many CPUs a GPU counts for max_wus_to_send, and, for results that compute on
it, for daily_result_quota.`,
	},
	{
		name: "max_ncpus", preset: 64, most: 1e5,
		about: `Most CPUs of a computer that count for these limits.`,
	},
	{
		name: "max_infeasible", most: 1e6,
		about: `Accounts with a computer that asked within the last 7 days and has too little memory,
disk or bandwidth for a result, before its workunit is given up; 0 gives nothing up.
Only accounts with credit count, and computers for which the application has a version.
starling-server status shows what waits for such computers; work retry revives it.`,
	},
	{
		name: "one_result_per_user_per_wu",
		about: `Whether a volunteer, or a computer, gets at most one result of a workunit.
Results of one computer that agree prove little. A result without success of a version that
was withdrawn (version deprecate) does not count.`,
	},
	{
		name: "one_result_per_host_per_wu", preset: true,
	},
	{
		name: "idle_ignore_delay_bound",
		about: `Whether a computer with an idle CPU (or GPU) is sent one result for it even if it would
not be done within its delay bound: estimates are what they are. BOINC's server
always does that.`,
	},
	{
		name: "anonymous_platform", preset: true,
		about: `Whether volunteers may compute with programs of their own, which they list in an
app_info.xml (BOINC's anonymous platform), instead of the project's. Their outputs are
validated like all others.`,
	},
	{
		name: "resend_lost_results", preset: true,
		about: `Whether a computer that lost a result, or never received it, is sent it again.`,
	},
	{
		name: "send_result_abort", preset: true,
		about: `Whether computers are ordered to abort results that are no longer needed.`,
	},
	{
		name: "reliable_on_priority", most: 1e9,
		about: `Results of this priority and above are urgent; 0: none. During the first 24 hours
they go to reliable computers only.`,
	},
	{
		name: "reliable_priority_on_over", most: 1e9,
		about: `Added to the priority of a result that replaces one that failed, was late or
disagreed with the others.`,
	},
	{
		name: "reliable_batch_end", preset: 100, most: 1e6,
		about: `The last results of a batch become urgent: those of its last tenth, and of at most
this many workunits; 0: never. Needs reliable_on_priority.`,
	},
	{
		name: "reliable_max_avg_turnaround", most: 100 * 86400,
		about: `A computer is reliable if it has had 10 valid results of an app version, returns
them within this many seconds on average (0: any time), and at most this share of
its recent results failed.`,
	},
	{
		name: "reliable_max_error_rate", preset: 0.05, most: 1,
	},
	{
		name: "reliable_reduced_delay_bound", preset: 0.5, most: 1,
		about: `The fraction of the delay bound within which an urgent result must be reported,
but at least twice its estimated run time; 0: the whole delay bound.`,
	},
	{
		name: "plan_class_spec",
		about: `A file of plan classes in the format of BOINC's server, such as plan_class_spec.xml,
beside this one; "" is none. Classes with keys that this server does not support
suit no computer.`,
	},
	{
		name: "affinity_hours", preset: 24, most: 24 * 365,
		about: `Hours for which a workunit is reserved for computers that have the files of its
predecessor (work create --predecessor), at the most: see affinity_silence_minutes.`,
	},
	{
		name: "affinity_silence_minutes", preset: 60, most: 60 * 24 * 365,
		about: `Minutes without a request after which such a computer is given up and any other may
have the workunit; the server has it make requests three times as often. 0: it has the
whole of affinity_hours.`,
	},
	{
		name: "affinity_gone_days", preset: 7, most: 3650,
		about: `Days without a request of any computer that has a file which a task made there
(work create --generated), after which a workunit that needs the file is given up; 0: it
waits for ever.`,
	},
	{
		name: "affinity_copies",
		about: `Whether computers upload each file that a task made for the next one of its chain
(work create --generated), so that the chain can move even when a computer never comes back.
Otherwise they upload such files only when they do not take the next task in time.`,
	},
	{
		name: "delete_delay_hours", preset: 24, most: 24 * 3650,
		about: `Hours for which the files of a workunit are kept after it was assimilated and its
last result was reported or due. Until then, late results are validated and get
credit, and work retry can revive a workunit that was given up.`,
	},
	{
		name: "purge_after_days", preset: 30, most: 36500,
		about: `Days after the deletion of its files until a finished workunit is moved, with its
results, from the database to archive/; 0 keeps all. Files uploaded after that, or a
day after the files of their result were deleted, are deleted.`,
	},
	{
		name: "results_folders", preset: assimilator.Flat,
		about: `How results/ is divided, for applications whose outcomes are copied there. "batch_or_day", as new
projects have it, puts a workunit's folder into batch_7 if it is in batch 7, and else into the day
on which it was created, for example 2027-01-31 (UTC). "day" does the latter always; "batch" has one folder,
no_batch, for what is in no batch; "flat" has no folders in between, which are slow to look through
with more than some hundred thousand. A change is for outcomes that are yet to come.`,
		check: func(c *Config) error {
			if !slices.Contains(assimilator.Divisions, c.ResultsFolders) {
				return fmt.Errorf("%q: want one of %s", c.ResultsFolders, strings.Join(assimilator.Divisions, ", "))
			}
			return nil
		},
	},
	{
		name: "badges", preset: badge.Ladder{10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000},
		about: `Amounts of credit for which volunteers and teams have a badge, in ascending order; they
show the highest. [] is none.`,
		check: func(c *Config) error { return c.Badges.Check() },
	},
	{
		name:  "disable_account_creation",
		about: `Whether only the operator can create accounts (starling-server user add).`,
	},
	{
		name: "invitations", preset: []string{},
		about: `Codes of which whoever signs up needs one; [] asks for none.`,
		check: func(c *Config) error {
			if slices.Contains(c.Invitations, "") {
				return errors.New("a code is empty")
			}
			return nil
		},
	},
	{
		name: "confirm_email",
		about: `Whether accounts get tasks only after their owner has opened a link that is mailed
to him. Accounts that the operator creates are confirmed.`,
		check: func(c *Config) error {
			if c.ConfirmEmail && c.Mail == "" {
				return errors.New("mail is needed for that")
			}
			return nil
		},
	},
	{
		name: "min_passwd_length", preset: 6, most: 100,
		about: `Minimum length of passwords that clients accept.`,
	},
	{ //nolint:gosec // the password is the word PASSWORD
		name: "mail", preset: "mail",
		about: `Where mail to volunteers goes: a folder beside this file, or a mail server,
smtp://USER:PASSWORD@HOST:587 or smtps://…; "" sends none. The sender is
mail_from; "" is noreply at the host of master_url.`,
	},
	{
		name: "mail_from",
	},
	{
		name: "trusted_proxies",
		about: `Proxies in front of the server, by address or network. They are trusted to name the
sender of a request, in the header forwarded_header. Without yours in this list, the
limits below treat all volunteers as one address. Default: this computer if
master_url starts with https and tls is false, otherwise none.`,
		check: func(c *Config) error {
			_, err := limit.ParseProxies(c.TrustedProxies)
			return err
		},
	},
	{
		name: "forwarded_header", preset: limit.XForwardedFor,
		about: `The header that these proxies write: "X-Forwarded-For", or "Forwarded" (RFC 7239). No
other is read, since proxies pass on what a client says in it.`,
		check: func(c *Config) error {
			if c.ForwardedHeader != limit.XForwardedFor && c.ForwardedHeader != limit.Forwarded {
				return fmt.Errorf("%q: want %q or %q", c.ForwardedHeader, limit.XForwardedFor, limit.Forwarded)
			}
			return nil
		},
	},
	{
		name: "max_connections_per_address", preset: 250, most: 1e6,
		about: `Connections that one address may have open at a time; further ones are closed.`,
	},
	{
		name: "max_requests_per_address", preset: 100, most: 1e6,
		about: `Requests from one address that are answered at a time.`,
	},
	{
		name: "max_request_mb", preset: 64, most: 1e6,
		about: `Megabytes of memory that scheduler requests may use at a time, in total and from
one address. Requests beyond that wait, and are then asked to try again later.`,
	},
	{
		name: "max_request_mb_per_address", preset: 16, most: 1e6,
	},
	{
		name: "min_transfer_rate", preset: 500, most: 1e6,
		about: `Bytes per second at which a client must send its request and receive the answer,
averaged over half a minute. This is the only limit on how long a file may take.
0: any progress within half a minute is enough.`,
	},
	{
		name: "max_accounts_per_address_day", preset: 50, most: 1e6,
		about: `Accounts created from one address each day, and computers added to one account each day.`,
	},
	{
		name: "max_hosts_per_user_day", preset: 500, most: 1e5,
	},
	{
		name: "max_wrong_passwords", preset: 10, most: 1e6,
		about: `Wrong passwords allowed for one account from one address; after that, one more
each minute. The owner is not locked out elsewhere, and the account key always
works.`,
	},
	{
		name: "metrics_allow", preset: []string{"127.0.0.1", "::1"},
		about: `Access to metrics and profiles at admin_listen: these addresses and networks, and
clients that send the token (Authorization: Bearer TOKEN); "" is no token.`,
		check: func(c *Config) error {
			_, err := limit.ParseProxies(c.MetricsAllow)
			return err
		},
	},
	{
		name: "metrics_token",
		check: func(c *Config) error {
			if c.MetricsToken != "" && len(c.MetricsToken) < 16 {
				return errors.New("want at least 16 characters, or \"\" for none")
			}
			return nil
		},
	},
}

// head and foot stand before and after the settings.
const (
	head = `# Settings of the project. A key that exists in BOINC has the name it has in
# BOINC's config.xml. A limit of 0 means no limit. The server reads this file
# when it starts, and again on SIGHUP (systemctl reload); its log names what
# takes a restart: addresses, TLS, database and files.
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
