package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/nearest"
	"github.com/starling-grid/starling/server/db"
)

// A Platform is a kind of computer, by BOINC's name for it.
type Platform struct {
	ID               int64  `db:"id"`
	Name             string `db:"name"`
	UserFriendlyName string `db:"user_friendly_name"`
}

// An App is an application of the project.
type App struct {
	ID                int64         `db:"id"`
	CreateTime        time.Time     `db:"create_time"`
	Name              string        `db:"name"`
	UserFriendlyName  string        `db:"user_friendly_name"`
	Deprecated        bool          `db:"deprecated"`
	NonCPUIntensive   bool          `db:"non_cpu_intensive"`
	FractionDoneExact bool          `db:"fraction_done_exact"`
	Validator         string        `db:"validator"`   // as package validator names it: "bitwise", "exec:CMD" …
	Assimilator       string        `db:"assimilator"` // as package assimilator names it: "copy", "exec:CMD" …
	Trickle           string        `db:"trickle"`     // "exec:CMD" ("" keeps trickle-up messages)
	Credit            string        `db:"credit"`      // "flops", also "", "fixed:N" or "runtime"
	Weight            float64       `db:"weight"`      // share of the computing time, relative to other applications (0 means 1)
	TaskTime          time.Duration `db:"task_time"`   // wanted time of a result on its host, from start to end (0: any)

	HomogeneousRedundancy int  `db:"homogeneous_redundancy"` // 0 none, 1 fine, 2 coarse
	HomogeneousAppVersion bool `db:"homogeneous_app_version"`
	TargetNResults        int  `db:"target_nresults"` // above 1: adaptive replication, so many results if a host is not trusted
}

// An AppVersion is a build of an App for one platform and plan class.
type AppVersion struct {
	ID             int64     `db:"v.id"`
	CreateTime     time.Time `db:"v.create_time"`
	AppID          int64     `db:"v.appid"`
	VersionNum     int       `db:"v.version_num"`
	Platform       Platform  `db:"p."`
	PlanClass      string    `db:"v.plan_class"`
	XMLDoc         string    `db:"v.xml_doc"` // its file_infos and the app_version element
	MinCoreVersion int       `db:"v.min_core_version"`
	MaxCoreVersion int       `db:"v.max_core_version"` // 0: no limit
	Deprecated     bool      `db:"v.deprecated"`
	Plain          bool      `db:"v.plain"` // a program without BOINC's API, run by our wrapper
}

var appColumns = db.ColumnsOf[App]()

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

// AppByName returns an application, or ErrNotFound with the name that was probably meant, or all names.
func (t *View) AppByName(name string) (App, error) {
	a, err := one(t, appColumns.Scan, appByName, name)
	if errors.Is(err, ErrNotFound) {
		err = t.unknownApp(name, err)
	}
	if err != nil {
		return a, fmt.Errorf("app %s: %w", name, err)
	}
	return a, nil
}

// unknownApp adds to err the application that was probably meant, or else all applications.
func (t *View) unknownApp(name string, err error) error {
	apps, failed := t.Apps()
	if failed != nil {
		return failed
	}
	var names []string
	for _, a := range apps {
		names = append(names, a.Name)
	}
	switch best := nearest.Word(name, names); {
	case best != "":
		return fmt.Errorf("%w; did you mean %s?", err, best)
	case len(names) == 0:
		return fmt.Errorf("%w; the project has no applications yet", err)
	}
	return fmt.Errorf("%w; the project has %s", err, strings.Join(names, ", "))
}

var (
	platformColumns = db.ColumnsOf[Platform]()
	insertPlatform  = `
INSERT INTO platform (create_time, name, user_friendly_name) VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING`
	platformByName = `SELECT ` + platformColumns.List() + ` FROM platform WHERE name = $1`
	allPlatforms   = `SELECT ` + platformColumns.List() + ` FROM platform WHERE deprecated = 0 ORDER BY id`
)

// EnsurePlatform returns the platform called p.Name, added if it is new.
func (t *Tx) EnsurePlatform(p Platform, now time.Time) (Platform, error) {
	if _, err := t.exec(insertPlatform, unix(now), p.Name, p.UserFriendlyName); err != nil {
		return p, fmt.Errorf("platform %s: %w", p.Name, err)
	}
	return one(t.View, platformColumns.Scan, platformByName, p.Name)
}

// Platforms returns the platforms in use, oldest first.
func (t *View) Platforms() ([]Platform, error) { return all(t, platformColumns.Scan, allPlatforms) }

var appVersionColumns = db.ColumnsOf[AppVersion]()

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
