package web

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/stats"
)

// exported is the maximum age of the files for statistics sites.
const exported = 24 * time.Hour

// An export writes the statistics when they are requested and too old.
type export struct{ writing sync.Mutex }

// statistics serves the files for statistics sites. If they are too old, the request waits until
// they are written again.
func (s *Site) statistics(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if plain, is := strings.CutSuffix(name, ".xml.gz"); is {
		name = plain + ".gz"
	}
	if !slices.Contains(stats.Files, name) {
		http.NotFound(w, r)
		return
	}
	if err := s.export.renew(r.Context(), s); err != nil {
		s.Log.Error("statistics could not be written", "err", err)
		http.Error(w, "the statistics cannot be written now", http.StatusServiceUnavailable)
		return
	}
	if strings.HasSuffix(name, ".gz") {
		w.Header().Set("Content-Type", "application/gzip")
	}
	http.ServeFile(w, r, filepath.Join(s.Stats, name))
}

// renew writes the statistics, unless they are new enough.
func (e *export) renew(ctx context.Context, s *Site) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	st, err := os.Stat(filepath.Join(s.Stats, "tables.xml")) // the last that is written
	if err == nil && time.Since(st.ModTime()) < exported && time.Since(st.ModTime()) >= 0 {
		return nil
	}
	return stats.Write(context.WithoutCancel(ctx), s.Store, s.Stats, stats.Badges{Ladder: s.Badges, Folder: s.Accounts.MasterURL + "badges/"}, time.Now())
}
