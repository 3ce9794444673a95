package agent

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/state"
)

// ReloadSettings reads starling.toml and what tools changed of it again, and has
// those settings take effect that may while the agent runs.
func (a *Agent) ReloadSettings(ctx context.Context) error {
	return a.do(ctx, func() error {
		s, err := settings.Load(a.cfg.DataDir)
		if err != nil {
			a.log.Error("some settings are invalid; the previous values stay in effect", "err", err)
			a.settingsFaults = err
			_ = a.readFiles() // tells of all that is wrong
			return err
		}
		a.settingsFaults = nil
		_ = a.readFiles()
		if err := settings.KeepSettings(a.cfg.DataDir, time.Now()); err != nil {
			a.log.Warn("settings cannot be copied; a start while they have errors would use the defaults", "err", err)
		}
		if err := a.way.set(s); err != nil {
			return err
		}
		a.settings.Adopt(s)
		a.logFlags.Set(a.settings.LogFlags)
		a.nameHost()
		a.log.Info("settings are read again")
		return nil
	})
}

// ChangeSettings has change alter the settings, as far as tools may; they take
// effect when they are reloaded.
func (a *Agent) ChangeSettings(ctx context.Context, change func(*settings.Settings)) error {
	return a.do(ctx, func() error { return settings.ChangeSettings(a.cfg.DataDir, change) })
}

// ChangeAccount changes what tools may of an account, at once.
func (a *Agent) ChangeAccount(ctx context.Context, masterURL string, change func(*settings.Override)) error {
	return a.do(ctx, func() error {
		if err := settings.ChangeAccount(a.cfg.DataDir, masterURL, change); err != nil {
			return err
		}
		return a.readFiles()
	})
}

// ChangeHost changes what tools may of what is remembered of the computer, at once:
// Product, Language and GPUMode.
func (a *Agent) ChangeHost(ctx context.Context, change func(*state.Host)) error {
	return a.do(ctx, func() error {
		h, _ := a.db.Hosts.Get(state.Self)
		change(&h)
		err := a.db.Update(func(tx *state.Tx) { a.db.Hosts.Put(tx, state.Self, h) })
		a.nameHost()
		return err
	})
}

// nameHost makes the computer what the settings and tools want it to be.
func (a *Agent) nameHost() {
	h, _ := a.db.Hosts.Get(state.Self)
	a.host.ProductName = h.Product
	a.language.Store(&h.Language)
	a.host.NCPUs = cmp.Or(a.settings.NCPUs, a.probed.NCPUs)
	a.host.DomainName = cmp.Or(a.settings.DeviceName, a.probed.DomainName)
	programs := a.settings.ExclusiveApps
	a.sensed.programs.Store(&programs)
}

// speaking asks for answers in a language; nil or "" is none.
type speaking struct {
	next     http.RoundTripper
	language *atomic.Pointer[string]
}

// RoundTrip carries one request.
func (s speaking) RoundTrip(r *http.Request) (*http.Response, error) {
	if l := s.language.Load(); l != nil && *l != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Language", *l)
	}
	return s.next.RoundTrip(r)
}

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
