package settings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// watchEvery is how often the files that people edit are looked at.
const watchEvery = 2 * time.Second

// Watch calls changed whenever a preference or account file has changed, until ctx
// ends. It looks by itself now and then, since notifications differ by system and
// miss what happens on network file systems.
func Watch(ctx context.Context, dataDir string, changed func()) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	seen := fingerprint(dataDir)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := fingerprint(dataDir)
		if now == seen {
			continue
		}
		seen = now
		changed()
	}
}

// fingerprint tells one state of those files from another.
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
