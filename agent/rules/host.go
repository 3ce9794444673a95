package rules

import (
	"cmp"
	"net/http"
	"sync/atomic"

	"github.com/starling-grid/starling/state"
)

// NameHost sets the computer's properties to the values in the settings and from tools.
func (ru *Rules) NameHost() {
	h, _ := ru.DB.Hosts.Get(state.Self)
	ru.Host.ProductName = cmp.Or(h.Product, ru.Probed.ProductName)
	ru.language.Store(&h.Language)
	ru.Host.NCPUs = cmp.Or(ru.Settings.NCPUs, len(ru.TaskCPUs), ru.Probed.NCPUs)
	ru.Host.DomainName = cmp.Or(ru.Settings.DeviceName, ru.Probed.DomainName)
	ru.Presence.Watch(ru.Settings.ExclusiveApps, ru.Settings.ExclusiveGPUApps)
}

// Speaking makes requests ask for answers in the language that tools chose.
func (ru *Rules) Speaking(next http.RoundTripper) http.RoundTripper {
	return languageTransport{next, &ru.language}
}

// languageTransport asks for answers in a language. nil or "" means none.
type languageTransport struct {
	next     http.RoundTripper
	language *atomic.Pointer[string]
}

// RoundTrip carries one request.
func (s languageTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if l := s.language.Load(); l != nil && *l != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Language", *l)
	}
	return s.next.RoundTrip(r)
}
