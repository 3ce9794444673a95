package settings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/beat"
)

// watchEvery is the interval at which the files that people edit are checked.
const watchEvery = 5 * time.Second

// Watch records the preference and account files as they are now, and returns a function that calls
// changed whenever one differs, until ctx ends. Read the files in between, so that no change is
// missed. It checks at intervals, since notifications differ by system and miss changes on network
// file systems.
func Watch(dataDir string) func(ctx context.Context, changed func()) {
	seen := fingerprint(dataDir)
	return func(ctx context.Context, changed func()) { watch(ctx, dataDir, seen, changed) }
}

func watch(ctx context.Context, dataDir, seen string, changed func()) {
	ticker := beat.NewTicker("changes of settings files", watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			ticker.Again(watchEvery)
		}
		now := fingerprint(dataDir)
		if now == seen {
			continue
		}
		seen = now
		changed()
	}
}

// fingerprint returns a text that differs when one of those files differs.
func fingerprint(dataDir string) string {
	var b strings.Builder
	paths, _ := filepath.Glob(filepath.Join(dataDir, AccountsDir, "*.toml"))
	for _, path := range append(paths, filepath.Join(dataDir, PrefsFile), filepath.Join(dataDir, PrefsOverrideFile)) {
		if st, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", path, st.Size(), st.ModTime().UnixNano())
		}
	}
	return b.String()
}
