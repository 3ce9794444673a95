package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Platform is a kind of computer, by BOINC's name for it.
type Platform struct {
	ID               int64
	Name             string
	UserFriendlyName string
}

// An App is an application of the project.
type App struct {
	ID                int64
	CreateTime        time.Time
	Name              string
	UserFriendlyName  string
	Deprecated        bool
	NonCPUIntensive   bool
	FractionDoneExact bool
	Validator         string        // as package validator names it: "bitwise", "exec:CMD" …
	Assimilator       string        // as package assimilator names it: "copy", "exec:CMD" …
	Trickle           string        // "exec:CMD" ("" keeps trickle-up messages)
	Credit            string        // "flops", also "", "fixed:N" or "runtime"
	Weight            float64       // share of the computing time, relative to other applications (0 means 1)
	TaskTime          time.Duration // wanted time of a result on its host, from start to end (0: any)

	HomogeneousRedundancy int // 0 none, 1 fine, 2 coarse
	HomogeneousAppVersion bool
	TargetNResults        int // above 1: adaptive replication, so many results if a host is not trusted
}

// An AppVersion is a build of an App for one platform and plan class.
type AppVersion struct {
	ID             int64
	CreateTime     time.Time
	AppID          int64
	VersionNum     int
	Platform       Platform
	PlanClass      string
	XMLDoc         string // its file_infos and the app_version element
	MinCoreVersion int
	MaxCoreVersion int // 0: no limit
	Deprecated     bool
	Plain          bool // a program without BOINC's API, run by our wrapper
}

var appColumns = columns[App]{
	{"id", func(a *App) any { return &a.ID }},
	{"create_time", func(a *App) any { return (*unix)(&a.CreateTime) }},
	{"name", func(a *App) any { return &a.Name }},
	{"user_friendly_name", func(a *App) any { return &a.UserFriendlyName }},
	{"deprecated", func(a *App) any { return (*flag)(&a.Deprecated) }},
	{"non_cpu_intensive", func(a *App) any { return (*flag)(&a.NonCPUIntensive) }},
	{"fraction_done_exact", func(a *App) any { return (*flag)(&a.FractionDoneExact) }},
	{"validator", func(a *App) any { return &a.Validator }},
	{"assimilator", func(a *App) any { return &a.Assimilator }},
	{"trickle", func(a *App) any { return &a.Trickle }},
	{"homogeneous_redundancy", func(a *App) any { return &a.HomogeneousRedundancy }},
	{"homogeneous_app_version", func(a *App) any { return (*flag)(&a.HomogeneousAppVersion) }},
	{"target_nresults", func(a *App) any { return &a.TargetNResults }},
	{"credit", func(a *App) any { return &a.Credit }},
	{"weight", func(a *App) any { return &a.Weight }},
	{"task_time", func(a *App) any { return (*span)(&a.TaskTime) }},
}

var insertApp = appColumns.InsertInto("app", `create_time, name, user_friendly_name, deprecated, non_cpu_intensive,
	fraction_done_exact, validator, assimilator, trickle, homogeneous_redundancy, homogeneous_app_version, target_nresults,
	credit, weight, task_time`)

// InsertApp adds an application and returns its id, or ErrExists.
func (t *Tx) InsertApp(a App) (int64, error) {
	id, err := t.insert(insertApp.Statement, insertApp.Args(&a)...)
	if err != nil {
		return 0, fmt.Errorf("app %s: %w", a.Name, err)
	}
	return id, nil
}

var saveApp = appColumns.Save("app", "", `user_friendly_name, validator, assimilator, trickle, homogeneous_redundancy,
	homogeneous_app_version, target_nresults, deprecated, credit, weight, task_time, non_cpu_intensive`, "")

// SaveApp stores the settings of an application that changed, except its name.
func (t *Tx) SaveApp(old, now App) error { return save(t.Changes, saveApp, &old, &now) }

var allApps = `SELECT ` + appColumns.List() + ` FROM app ORDER BY id`

// Apps returns all applications, oldest first.
func (t *View) Apps() ([]App, error) { return all(t, appColumns.Scan, allApps) }

var appByName = `SELECT ` + appColumns.List() + ` FROM app WHERE name = $1`

// AppByName returns an application, or ErrNotFound.
func (t *View) AppByName(name string) (App, error) {
	a, err := one(t, appColumns.Scan, appByName, name)
	if err != nil {
		return a, fmt.Errorf("app %s: %w", name, err)
	}
	return a, nil
}

const (
	insertPlatform = `
INSERT INTO platform (create_time, name, user_friendly_name) VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING`
	platformByName = `SELECT id, name, user_friendly_name FROM platform WHERE name = $1`
	allPlatforms   = `SELECT id, name, user_friendly_name FROM platform WHERE deprecated = 0 ORDER BY id`
)

func scanPlatform(r row) (p Platform, err error) {
	return p, r.Scan(&p.ID, &p.Name, &p.UserFriendlyName)
}

// EnsurePlatform returns the platform called p.Name, added if it is new.
func (t *Tx) EnsurePlatform(p Platform, now time.Time) (Platform, error) {
	if _, err := t.exec(insertPlatform, unix(now), p.Name, p.UserFriendlyName); err != nil {
		return p, fmt.Errorf("platform %s: %w", p.Name, err)
	}
	return one(t.View, scanPlatform, platformByName, p.Name)
}

// Platforms returns the platforms in use, oldest first.
func (t *View) Platforms() ([]Platform, error) { return all(t, scanPlatform, allPlatforms) }

var appVersionColumns = columns[AppVersion]{
	{"v.id", func(v *AppVersion) any { return &v.ID }},
	{"v.create_time", func(v *AppVersion) any { return (*unix)(&v.CreateTime) }},
	{"v.appid", func(v *AppVersion) any { return &v.AppID }},
	{"v.version_num", func(v *AppVersion) any { return &v.VersionNum }},
	{"p.id", func(v *AppVersion) any { return &v.Platform.ID }},
	{"p.name", func(v *AppVersion) any { return &v.Platform.Name }},
	{"p.user_friendly_name", func(v *AppVersion) any { return &v.Platform.UserFriendlyName }},
	{"v.plan_class", func(v *AppVersion) any { return &v.PlanClass }},
	{"v.xml_doc", func(v *AppVersion) any { return &v.XMLDoc }},
	{"v.min_core_version", func(v *AppVersion) any { return &v.MinCoreVersion }},
	{"v.max_core_version", func(v *AppVersion) any { return &v.MaxCoreVersion }},
	{"v.deprecated", func(v *AppVersion) any { return (*flag)(&v.Deprecated) }},
	{"v.plain", func(v *AppVersion) any { return (*flag)(&v.Plain) }},
}

var insertAppVersion = db.Insert("app_version", `create_time, appid, version_num, platformid, plan_class, xml_doc,
	min_core_version, max_core_version, plain`)

// InsertAppVersion adds a version and returns its id, or ErrExists when app,
// number, platform and plan class are taken.
func (t *Tx) InsertAppVersion(v AppVersion) (int64, error) {
	return t.insert(insertAppVersion, unix(v.CreateTime), v.AppID, v.VersionNum, v.Platform.ID, v.PlanClass,
		v.XMLDoc, v.MinCoreVersion, v.MaxCoreVersion, flag(v.Plain).Int())
}

var deprecateVersion = db.Update("app_version", "deprecated = 1")

// DeprecateVersion ends the sending of a version, for good.
func (t *Tx) DeprecateVersion(id int64) error { return t.execOne(deprecateVersion, id) }

var liveAppVersions = `
SELECT ` + appVersionColumns.List() + `
FROM   app_version v JOIN platform p ON p.id = v.platformid JOIN app a ON a.id = v.appid
WHERE  v.deprecated = 0 AND a.deprecated = 0 AND p.deprecated = 0
ORDER  BY v.appid, v.version_num DESC, v.id`

var allAppVersions = `
SELECT ` + appVersionColumns.List() + ` FROM app_version v JOIN platform p ON p.id = v.platformid ORDER BY v.id`

// AllAppVersions returns every version, including versions that are not sent any more.
func (t *View) AllAppVersions() ([]AppVersion, error) {
	return all(t, appVersionColumns.Scan, allAppVersions)
}

const planClasses = `SELECT id, plan_class FROM app_version WHERE plan_class <> ''`

// PlanClasses returns the plan classes of all versions that have one, by their ids.
func (t *View) PlanClasses() (map[int64]string, error) {
	classes := make(map[int64]string)
	err := t.db.Query(planClasses, nil, func(r rows) error {
		var id int64
		var class string
		err := r.Scan(&id, &class)
		classes[id] = class
		return err
	})
	return classes, err
}

var setVersionDoc = db.Update("app_version", "xml_doc = $3", "xml_doc = $2")

// SetVersionDoc replaces a version's description, or returns ErrLost if it differs from old.
func (t *Tx) SetVersionDoc(id int64, old, doc string) error {
	return t.execOne(setVersionDoc, id, old, doc)
}

// AppVersions returns the versions that may be sent, grouped by application, the newest first.
func (t *View) AppVersions() ([]AppVersion, error) {
	return all(t, appVersionColumns.Scan, liveAppVersions)
}

const appsChanged = `SELECT stamp FROM catalog`

// AppsStamp returns a number that changes with every change of a platform, an application or a
// version. A copy in memory is current while the number stays the same.
func (t *View) AppsStamp() (int64, error) { return asked(t, AppsStamp) }

// AppsStamp asks for View.AppsStamp.
func AppsStamp(found func(int64)) Question { return db.NewQuestion(scanID, found, appsChanged) }
