package project

import (
	"errors"
	"fmt"
	"slices"

	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/limit"
)

// peopleSettings are the settings for accounts and visitors, and limits on their requests.
var peopleSettings = []setting{
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
		name: "max_waiting_hosts", preset: 10000, most: 1e6,
		about: `Idle computers that may each keep a connection on which the project announces new
work within seconds; 0: none. Starling's agent does, BOINC's clients do not. One address
may have half of max_connections_per_address of them. Ten thousand take some 20 MB of
memory, and as many open files (LimitNOFILE).`,
	},
	{
		name: "max_requests_per_address", preset: 100, most: 1e6,
		about: `Requests from one address that are answered at a time.`,
	},
	{
		name: "max_request_mb", preset: 64, most: 1e6,
		about: `Megabytes of memory that the requests of clients and of programs that submit work may
use at a time, in total and from one address. Requests beyond that wait, and are then
asked to try again later.`,
	},
	{
		name: "max_request_mb_per_address", preset: 16, most: 1e6,
	},
	{
		name: "max_spool_mb", preset: 4000, most: 1e6,
		about: `Megabytes in the folder incoming, for input files that programs are sending and that
the project fetches. One address may use half of it. Requests beyond that wait, and
are then asked to try again later.`,
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
