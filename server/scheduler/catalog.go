package scheduler

import (
	"fmt"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

// A catalog is a copy in memory of the applications and their versions.
type catalog struct {
	stamp    int64
	apps     map[int64]store.App
	versions []*version
}

// A version is an app version with its elements read.
type version struct {
	store.AppVersion
	app   protocol.App
	files []protocol.FileInfo
	wire  protocol.AppVersion
}

// load returns the catalog, renewed if the tables have changed.
func (s *Scheduler) load(tx *store.Tx) (*catalog, error) {
	stamp, err := tx.AppsStamp()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.catalog != nil && s.catalog.stamp == stamp {
		return s.catalog, nil
	}
	c := &catalog{stamp: stamp, apps: make(map[int64]store.App)}
	apps, err := tx.Apps()
	if err != nil {
		return nil, err
	}
	for _, a := range apps {
		c.apps[a.ID] = a
	}
	rows, err := tx.AppVersions()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		v, err := s.describe(row, c.apps[row.AppID])
		if err != nil {
			// One bad version must not keep the others from being sent.
			s.Log.Error("app version cannot be sent", "app_version_id", row.ID, "err", err)
			continue
		}
		c.versions = append(c.versions, v)
	}
	s.catalog = c
	return c, nil
}

func (s *Scheduler) describe(row store.AppVersion, app store.App) (*version, error) {
	e, err := protocol.ParseElements([]byte(row.XMLDoc))
	if err != nil {
		return nil, err
	}
	if len(e.AppVersions) != 1 {
		return nil, fmt.Errorf("its description holds %d app versions", len(e.AppVersions))
	}
	v := &version{
		AppVersion: row, files: e.Files, wire: e.AppVersions[0],
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
	if len(f.DownloadURLs) == 0 && len(f.GzippedURLs) == 0 {
		f.DownloadURLs = []string{s.Config.DownloadURL + blob.Path(f.Name)}
	}
}

// forHost returns the versions that a host can run, one an application: that
// with the highest number, and among equals that for the platform which the
// host names first.
func (c *catalog) forHost(platforms []string, client protocol.Version) []*version {
	best := make(map[int64]*version)
	var out []*version
	for _, p := range platforms {
		for _, v := range c.versions {
			// What a plan class demands of a host is not known here yet.
			if v.Platform.Name != p || v.PlanClass != "" || !v.runsOn(client) {
				continue
			}
			if b := best[v.AppID]; b == nil || v.VersionNum > b.VersionNum {
				best[v.AppID] = v
			}
		}
	}
	for _, v := range c.versions {
		if best[v.AppID] == v {
			out = append(out, v)
		}
	}
	return out
}

// runsOn reports whether the client is of a version that v allows. Limits are
// written as 100·major + minor.
func (v *version) runsOn(client protocol.Version) bool {
	n := 100*client.Major + client.Minor
	return n >= v.MinCoreVersion && (v.MaxCoreVersion == 0 || n <= v.MaxCoreVersion)
}

// supports reports whether there is any version for one of the platforms.
func (c *catalog) supports(platforms []string) bool {
	for _, p := range platforms {
		for _, v := range c.versions {
			if v.Platform.Name == p {
				return true
			}
		}
	}
	return false
}
