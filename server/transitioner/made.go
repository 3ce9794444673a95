package transitioner

import (
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A Made file was made by a task on some computer and cannot be downloaded. A computer that lacks
// it cannot compute the workunit.
type Made struct {
	Name string
	// Until is the time when the workunit is given up, unless a computer that has the file makes
	// contact before. The zero time means never.
	Until time.Time
}

// awaited returns the file, made on some computer, that the unsent results of a workunit will have
// waited for in vain first. Results that are to be made are included. The zero value means there is
// no such file.
func (t *Transitioner) awaited(tx *store.View, wu store.Workunit, results []store.Result) (m Made, err error) {
	unsent := func(r store.Result) bool { return r.ServerState == store.Unsent }
	if t.Affinity.Gone <= 0 || !strings.Contains(wu.XMLDoc, "<generated_locally") || len(results) > 0 && !slices.ContainsFunc(results, unsent) {
		return Made{}, nil
	}
	e, err := protocol.ParseElements([]byte(wu.XMLDoc))
	if err != nil {
		return Made{}, err
	}
	for i := range e.Files {
		f := &e.Files[i]
		if !f.GeneratedLocally || len(f.DownloadURLs) > 0 {
			continue
		}
		heard, err := tx.HeardOfFile(f.Name)
		if err != nil {
			return Made{}, err
		}
		if heard.Before(wu.CreateTime) {
			heard = wu.CreateTime // it may be about to be made
		}
		if until := heard.Add(t.Affinity.Gone.Duration()); m.Name == "" || until.Before(m.Until) {
			m = Made{f.Name, until}
		}
	}
	return m, nil
}

// lost reports whether the file is given up at a time.
func (m Made) lost(now time.Time) bool { return !m.Until.IsZero() && !m.Until.After(now) }
