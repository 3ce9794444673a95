package project

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
)

// Place has the settings for the project's addresses, and for the places of its data and files.
type Place struct {
	LongName      string   `toml:"long_name"`
	MasterURL     string   `toml:"master_url"`
	FormerURLs    []string `toml:"former_urls"`
	Listen        string   `toml:"listen"`
	SchedulerURLs []string `toml:"scheduler_urls"`
	DownloadURLs  []string `toml:"download_urls"`

	TLS            bool   `toml:"tls"`
	TLSCert        string `toml:"tls_cert"`
	TLSKey         string `toml:"tls_key"`
	ACMEEmail      string `toml:"acme_email"`
	ACMEDirectory  string `toml:"acme_directory"`
	RedirectListen string `toml:"redirect_listen"`

	Database      string `toml:"database"`
	Files         string `toml:"files"`
	PlanClassSpec string `toml:"plan_class_spec"`
}

// addresses describes the settings for names and addresses.
func (p *Place) addresses() []setting.Key {
	return []setting.Key{
		setting.Of(&p.LongName, "", `The project's name, as volunteers see it.`).Checked(func() error {
			if strings.TrimSpace(p.LongName) == "" || len(p.LongName) > 254 {
				return errors.New("want a name of 1 to 254 bytes")
			}
			return nil
		}).Must().First(),
		setting.Of(&p.MasterURL, "",
			`The address that volunteers attach to. To change it later, use starling-server move. Otherwise attached
			clients complain or start over.`).Checked(func() error { return canonical(p.MasterURL) }).Must().Restarts().First(),
		setting.Of(&p.FormerURLs, []string{},
			`Addresses that master_url had before. Clients that use one of these are answered there, as long as its
			host leads to this server, and people are redirected.`).Checked(func() error {
			for _, s := range p.FormerURLs {
				if err := canonical(s); err != nil {
					return err
				}
			}
			return nil
		}),
		setting.Of(&p.Listen, "",
			`Where the server listens. "": on the port of master_url. If that starts with https and tls is false, on
			127.0.0.1:8080, for a proxy that provides TLS.`).Checked(setting.HostPort(&p.Listen)).Restarts(),
		setting.Of(&p.SchedulerURLs, []string{},
			`The addresses of the scheduler, one for each front end that takes requests. Clients choose one at random and
			try the others if it fails. []: master_url followed by "cgi". A front end with an address below master_url
			forwards to that.`).Checked(p.checkSchedulers),
		setting.Of(&p.DownloadURLs, []string{},
			`Mirrors of the download folder, or a CDN in front of it, such as https://cdn.example.org/mine/download/.
			Clients try them in this order, and then the project, which also fills the CDN. Files never
			change under their names.`).Checked(p.checkDownloads),
	}
}

// certificates describes the settings for TLS.
func (p *Place) certificates() []setting.Key {
	return []setting.Key{
		setting.Of(&p.TLS, false,
			`Whether the server provides TLS: with the certificate in tls_cert. If that is "", the server gets and renews a
			certificate from acme_directory, and you accept that service's terms. The service has to reach port 443
			of master_url's host, or port 80 if redirect_listen is ":80".`).Checked(p.checkTLS).Restarts().First(),
		setting.Of(&p.ACMEEmail, "", `Your address for notices from the certificate service.`).Checked(setting.MailAddress(&p.ACMEEmail)).Restarts(),
		setting.Of(&p.ACMEDirectory, "",
			`The address of the certificate service. "": Let's Encrypt.`).Checked(func() error {
			if p.ACMEDirectory != "" && !strings.HasPrefix(p.ACMEDirectory, "https://") {
				return errors.New("want a URL that starts with https://, or \"\"")
			}
			return nil
		}).Restarts(),
		setting.Of(&p.TLSCert, "",
			`File with the certificate, and the ones that vouch for it, in PEM: a path, or a name next to this
			file. It is read again when it changes.`).Checked(func() error {
			if (p.TLSCert == "") != (p.TLSKey == "") {
				return errors.New("tls_cert and tls_key need each other")
			}
			return nil
		}).Restarts(),
		setting.Of(&p.TLSKey, "", `File with the certificate's key, in PEM.`).Restarts(),
		setting.Of(&p.RedirectListen, "",
			`Where clients that connect without TLS are redirected to master_url, usually ":80". "": nowhere.`).
			Checked(setting.HostPort(&p.RedirectListen)).Restarts(),
	}
}

// storage describes the settings for data and files.
func (p *Place) storage() []setting.Key {
	return []setting.Key{
		setting.Of(&p.Database, "",
			`The database. "": the file project.db next to this one (SQLite). A URL such as
			postgres://user:password@host/name: a database of a PostgreSQL server.`).Checked(func() error {
			if p.Database != "" && !store.IsURL(p.Database) {
				return errors.New("want \"\" or a URL that starts with postgres://")
			}
			return nil
		}).Restarts().First(),
		setting.Of(&p.Files, "",
			`Where input and output files are stored. "": the folders download and upload next to this file.
			s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION: a bucket of an S3 service (with &tls=false, one
			without TLS). The keys of the bucket are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the server's
			environment, from ~/.aws/credentials, or from the machine's role.`).Restarts().First(),
		setting.Of(&p.PlanClassSpec, "",
			`A file of plan classes in the format of BOINC's server, such as plan_class_spec.xml, next to this file. "": no file. A class with a key that this server does not support is not sent to any computer.`),
	}
}

// Schedulers returns the addresses at which clients reach the scheduler.
func (p *Place) Schedulers() []string {
	if len(p.SchedulerURLs) > 0 {
		return p.SchedulerURLs
	}
	return []string{p.MasterURL + "cgi"}
}

// checkTLS returns an error for TLS settings that cannot be served.
func (p *Place) checkTLS() error {
	u, err := url.Parse(p.MasterURL)
	switch {
	case !p.TLS || err != nil:
		return nil
	case u.Scheme != "https":
		return errors.New("master_url does not start with https")
	case p.TLSCert == "" && net.ParseIP(u.Hostname()) != nil:
		return errors.New("a certificate for an address has to come from files: set tls_cert and tls_key")
	}
	return nil
}

// canonical returns an error if a project's address is not in the form that clients use.
func canonical(s string) error {
	u, err := MasterURL(s)
	if err == nil && u != s {
		err = fmt.Errorf("%q is not in canonical form, want %q", s, u)
	}
	return err
}

// checkDownloads finds addresses from which clients could fetch nothing.
func (p *Place) checkDownloads() error {
	for i, s := range p.DownloadURLs {
		u, err := url.Parse(s)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
			u.User != nil || !strings.HasSuffix(s, "/") || len(s) > 150 || strings.ContainsAny(s, "&'+<>\" ") {
			return fmt.Errorf("%.100q is not the address of a folder, want http:// or https://, a slash at the end and at most 150 plain characters", s)
		}
		if slices.Contains(p.DownloadURLs[:i], s) {
			return fmt.Errorf("%q is listed twice", s)
		}
	}
	return nil
}

// checkSchedulers finds addresses that clients would pass over.
func (p *Place) checkSchedulers() error {
	for i, u := range p.SchedulerURLs {
		// The page is read as clients read it, 255 bytes at a time.
		got, err := protocol.SchedulerURLs([]byte("<scheduler>" + u + "</scheduler>"))
		if err != nil || got[0] != u || len(u) > 200 || strings.ContainsAny(u, "&'+") {
			return fmt.Errorf("%.100q is not an address of a scheduler, want http:// or https:// and at most 200 plain characters", u)
		}
		if slices.Contains(p.SchedulerURLs[:i], u) {
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
func (p *Place) ListenAddr() string {
	if p.Listen != "" {
		return p.Listen
	}
	u, err := url.Parse(p.MasterURL)
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
	case u.Scheme == "https" && !p.TLS:
		return "127.0.0.1:8080" // behind a proxy that speaks TLS
	case ip != nil && ip.IsLoopback():
		return net.JoinHostPort(u.Hostname(), port)
	default:
		return ":" + port
	}
}

// UseTLS turns tls on, or returns the reason why that is not possible.
func (p *Place) UseTLS() error {
	on := *p
	on.TLS = true
	if err := on.checkTLS(); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	*p = on
	return nil
}
