package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/settings"
)

// watchEvery is how often the files that people edit are looked at.
const watchEvery = 2 * time.Second

// watch has the files that people edit read again when one changes. It looks by
// itself now and then, since notifications differ by system and miss what happens
// on network file systems.
func (a *Agent) watch(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	seen := a.fingerprint()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := a.fingerprint()
		if now == seen {
			continue
		}
		seen = now
		a.post(func() {
			a.log.Info("preferences or accounts have changed and are read again")
			if err := a.readFiles(); err != nil {
				a.log.Error("settings are not all usable; what held before goes on", "error", err)
			}
		})
	}
}

// fingerprint tells one state of those files from another.
func (a *Agent) fingerprint() string {
	var b strings.Builder
	paths, _ := filepath.Glob(filepath.Join(a.cfg.DataDir, settings.AccountsDir, "*.toml"))
	for _, path := range append(paths, filepath.Join(a.cfg.DataDir, settings.PrefsFile), filepath.Join(a.cfg.DataDir, settings.PrefsOverrideFile)) {
		if st, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", path, st.Size(), st.ModTime().UnixNano())
		}
	}
	return b.String()
}
