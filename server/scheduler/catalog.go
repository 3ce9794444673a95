package scheduler

import (
	"fmt"
	"slices"

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
	if len(f.DownloadURLs) == 0 && len(f.GzippedURLs) == 0 && !f.GeneratedLocally {
		f.DownloadURLs = []string{s.Config.DownloadURL + blob.Path(f.Name)}
	}
}

// choose returns the versions with which this host computes, one an application:
// that which is the fastest there, by what was learnt; among equals that with the
// highest number, and then that for the platform which the host names first. Of one
// plan class and platform only the newest counts. Now and then it is one of which too
// little is known: see speed.Trial.
func (r *rpc) choose() []*version {
	usable := make(map[int64][]*version)
	speeds := make(map[*version]float64)
	for _, p := range r.platforms() {
		newest := make(map[string]int)
		for _, v := range r.catalog.versions { // the newest first
			if v.Platform.Name != p {
				continue
			}
			u, lack := r.usage(v)
			if lack != nil {
				continue
			}
			class := v.app.Name + " " + v.PlanClass
			if v.VersionNum < newest[class] {
				continue
			}
			newest[class] = v.VersionNum
			usable[v.AppID] = append(usable[v.AppID], v)
			speeds[v] = u.flops
		}
	}
	var out []*version
	best := make(map[int64]*version)
	for _, v := range r.catalog.versions {
		list, ok := usable[v.AppID]
		if !ok {
			continue
		}
		b := best[v.AppID]
		if b == nil {
			b = r.trial(list, speeds, fastest(list, speeds))
			best[v.AppID] = b
		}
		if b == v {
			out = append(out, v)
		}
	}
	return out
}

// fastest returns the fastest of versions, and among equals that with the highest
// number.
func fastest(list []*version, speeds map[*version]float64) *version {
	best := list[0]
	for _, v := range list[1:] {
		if speeds[v] > speeds[best] || speeds[v] == speeds[best] && v.VersionNum > best.VersionNum {
			best = v
		}
	}
	return best
}

// noVersion says why this host has no version of an application.
func (r *rpc) noVersion(appID int64) *lack {
	for _, p := range r.platforms() {
		for _, v := range r.catalog.versions {
			if v.AppID != appID || v.Platform.Name != p {
				continue
			}
			if _, lack := r.usage(v); lack != nil {
				return lack
			}
		}
	}
	return &lack{code: protocol.RefusedPlatform}
}

// inUse reports whether a version is handed out.
func (c *catalog) inUse(id int64) bool {
	return slices.ContainsFunc(c.versions, func(v *version) bool { return v.ID == id })
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
