package api

import (
	"fmt"
	"net/url"

	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/webhook"
)

// Settings are the settings for programs that submit work.
type Settings struct {
	WebhookURLs  []string          `toml:"webhook_urls"`
	MaxFetchMB   setting.Megabytes `toml:"max_fetch_mb"`
	FetchPrivate bool              `toml:"fetch_private"`
	MaxSpoolMB   setting.Megabytes `toml:"max_spool_mb"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Of(&s.WebhookURLs, []string{},
			`Prefixes of addresses to which the server may send webhooks when a batch is done, such as
			https://lab.example.org/hooks/. List only hosts that the server may reach. []: it sends none. See
			docs/api.md.`).Checked(func() error {
			for _, prefix := range s.WebhookURLs {
				if u, err := url.Parse(prefix); err != nil || u.Host == "" || u.User != nil || !webhook.Allowed(u.JoinPath("x").String(), []string{prefix}) {
					return fmt.Errorf("%q is not a URL that addresses can start with, such as https://lab.example.org/hooks/", prefix)
				}
			}
			return nil
		}),
		setting.Number(&s.MaxFetchMB, 1000, 1e6,
			`Megabytes that the project fetches for one batch of the HTTP API whose input files are copied from
			other servers. 0: it fetches nothing. See docs/api.md.`),
		setting.Of(&s.FetchPrivate, false,
			`Whether the project also fetches from addresses that are not public, such as 127.0.0.1 and 10.0.0.7. Anyone
			with a token can then make the server fetch from hosts inside your network.`),
		setting.Number(&s.MaxSpoolMB, 4000, 1e6,
			`Megabytes in the folder incoming, for input files that programs send and that the project fetches. One
			address may use half of it. Requests beyond that wait, and are then asked to try again later.`),
	}
}
