package api

import (
	"context"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/state"
)

// ReloadSettings reads starling.toml and what tools changed of it again, and has
// those settings take effect that may while the agent runs.
func (a *API) ReloadSettings(ctx context.Context) error {
	return a.core.Do(ctx, func() error {
		s, err := settings.Load(a.core.Dir)
		if err != nil {
			a.core.Log.Error("some settings are invalid; the previous values stay in effect", "err", err)
			a.core.SettingsFaults = err
			_ = a.rules.ReadFiles() // reports everything that is wrong
			return err
		}
		a.core.SettingsFaults = nil
		_ = a.rules.ReadFiles()
		a.rules.ReadAllOwn()
		if err := settings.KeepSettings(a.core.Dir, time.Now()); err != nil {
			a.core.Log.Warn("settings cannot be backed up; if the file has errors at the next start, the defaults will be used", "err", err)
		}
		if err := a.parts.Adopt(s); err != nil {
			return err
		}
		a.rules.NameHost()
		a.core.Log.Info("settings reloaded")
		return nil
	})
}

// ChangeSettings calls change with the settings, as far as tools may change them. They take effect
// when they are reloaded.
func (a *API) ChangeSettings(ctx context.Context, change func(*settings.Settings)) error {
	return a.core.Do(ctx, func() error { return settings.ChangeSettings(a.core.Dir, change) })
}

// ChangeAccount changes what tools may of an account, at once.
func (a *API) ChangeAccount(ctx context.Context, masterURL string, change func(*settings.Override)) error {
	return a.core.Do(ctx, func() error {
		if err := settings.ChangeAccount(a.core.Dir, masterURL, change); err != nil {
			return err
		}
		return a.rules.ReadFiles()
	})
}

// ChangeHost changes the properties of the computer that tools may change, at once: Product,
// Language and GPUMode.
func (a *API) ChangeHost(ctx context.Context, change func(*state.Host)) error {
	return a.core.Do(ctx, func() error {
		h, _ := a.core.DB.Hosts.Get(state.Self)
		change(&h)
		err := a.core.DB.Update(func(tx *state.Tx) { a.core.DB.Hosts.Put(tx, state.Self, h) })
		a.rules.NameHost()
		return err
	})
}
