package api

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

// Check reads the files that people may edit and returns everything that is wrong with
// them.
func (a *API) Check(context.Context) error { return Check(a.core.Dir) }

// PrefsFile returns the text of prefs.toml, or "" if there is none.
func (a *API) PrefsFile(context.Context) (string, error) {
	text, err := foreigndir.ReadFile(filepath.Join(a.core.Dir, settings.PrefsFile), settings.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

// SetPrefsFile replaces prefs.toml, at once. A text with errors is refused, and the errors are
// returned.
func (a *API) SetPrefsFile(ctx context.Context, text string) error {
	if _, err := prefs.Parse(settings.PrefsFile, []byte(text), ""); err != nil {
		return err
	}
	return a.core.Do(ctx, func() error {
		if err := atomicfile.Write(filepath.Join(a.core.Dir, settings.PrefsFile), []byte(text), 0o600); err != nil {
			return err
		}
		a.core.Log.Info("preferences replaced by user", "file", settings.PrefsFile)
		return a.rules.ReadFiles()
	})
}

// SetPref overrides one preference of prefs.toml, at once. nil removes the override.
func (a *API) SetPref(ctx context.Context, name string, value *float64) error {
	if err := prefs.Check(name, value); err != nil {
		return err
	}
	a.editing.Lock() // or one of two changes at a time would be lost
	defer a.editing.Unlock()
	l, err := a.PrefsOverride(ctx)
	if err != nil {
		return err
	}
	values := make(map[string]float64, len(l.Values)+1)
	maps.Copy(values, l.Values)
	delete(values, name)
	if value != nil {
		values[name] = *value
	}
	l.Values = values
	a.core.Log.Info("preference set by user", "name", name)
	return a.setPrefsOverride(ctx, l)
}

// SetShare sets the resource share of a project, at once.
func (a *API) SetShare(ctx context.Context, masterURL string, share float64) error {
	err := a.ChangeAccount(ctx, masterURL, func(o *settings.Override) { o.ResourceShare = &share })
	if err != nil {
		return words.Explain(err, words.T("resource share of {url}: {why}", "url", masterURL, "why", sysfault.Text(err)))
	}
	a.core.Log.Info("resource share set by user", "project", masterURL, "share", share)
	return nil
}
