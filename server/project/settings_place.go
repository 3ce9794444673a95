package project

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/webhook"
)

// placeSettings are the settings for the project's addresses, and for the places of its data and
// files.
var placeSettings = []setting{
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
}
