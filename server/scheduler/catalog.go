package scheduler

import (
	"fmt"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// A catalog is a copy in memory of the applications and their versions.
type catalog struct {
	match.Catalog
	stamp   int64
	written map[int64]*version // by app version
	classes map[int64]string   // plan classes of all app versions, those too that are not sent
}

// A version has the parts of a reply that describe an app version.
type version struct {
	app   protocol.App
	files []protocol.FileInfo
	wire  protocol.AppVersion
}

// load returns the catalog. It is read again if the stamp of the tables has changed.
func (s *Scheduler) load(tx *store.View, stamp int64) (*catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.catalog != nil && s.catalog.stamp == stamp {
		return s.catalog, nil
	}
	c := &catalog{stamp: stamp, written: make(map[int64]*version), Catalog: match.Catalog{Apps: make(map[int64]store.App)}}
	apps, err := tx.Apps()
	if err != nil {
		return nil, err
	}
	for _, a := range apps {
		c.Apps[a.ID] = a
	}
	rows, err := tx.AppVersions()
	if err != nil {
		return nil, err
	}
	for i := range rows {
		row := &rows[i]
		v, err := s.describe(row, c.Apps[row.AppID])
		if err != nil {
			// One bad version must not keep the others from being sent.
			s.Log.Error("app version cannot be sent", "app_version_id", row.ID, "err", err)
			continue
		}
		c.Versions = append(c.Versions, row)
		c.written[row.ID] = v
	}
	if c.classes, err = tx.PlanClasses(); err != nil {
		return nil, err
	}
	s.catalog = c
	return c, nil
}

func (s *Scheduler) describe(row *store.AppVersion, app store.App) (*version, error) {
	e, err := protocol.ParseElements([]byte(row.XMLDoc))
	if err != nil {
		return nil, err
	}
	if len(e.AppVersions) != 1 {
		return nil, fmt.Errorf("its description holds %d app versions", len(e.AppVersions))
	}
	v := &version{
		files: e.Files, wire: e.AppVersions[0],
		app: protocol.App{
			Name: app.Name, UserFriendlyName: app.UserFriendlyName,
			NonCPUIntensive: app.NonCPUIntensive, FractionDoneExact: app.FractionDoneExact,
		},
	}
	v.wire.AppName, v.wire.VersionNum = app.Name, row.VersionNum
	v.wire.Platform, v.wire.PlanClass = row.Platform.Name, row.PlanClass
	for i := range v.files {
		s.setDownload(&v.files[i])
	}
	return v, nil
}

// setDownload completes a file's description. The address is not stored, so
// that a project may move.
func (s *Scheduler) setDownload(f *protocol.FileInfo) {
	if len(f.DownloadURLs) == 0 && len(f.GzippedURLs) == 0 && !f.GeneratedLocally {
		for _, tree := range append(slices.Clone(s.Config.Mirrors), s.Config.DownloadURL) {
			f.DownloadURLs = append(f.DownloadURLs, tree+blob.Path(f.Name))
			if f.GzippedNBytes > 0 {
				f.GzippedURLs = append(f.GzippedURLs, tree+blob.Path(blob.Packed(f.Name)))
			}
		}
	}
}
