package agent

import (
	"net/http"
	"sync/atomic"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/httpclient"
)

// proxied carries requests by the proxy that is set just now.
type proxied struct {
	by atomic.Pointer[http.Transport]
}

func (p *proxied) set(s settings.Settings) error {
	t, err := httpclient.Transport(s.Proxy, s.NoProxy)
	if err != nil {
		return err
	}
	if old := p.by.Swap(t); old != nil {
		old.CloseIdleConnections()
	}
	return nil
}

// RoundTrip carries one request.
func (p *proxied) RoundTrip(r *http.Request) (*http.Response, error) { return p.by.Load().RoundTrip(r) }
