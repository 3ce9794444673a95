package state

import "github.com/starling-grid/starling/resource"

// NonCPUIntensive reports whether the tasks of a version run in addition to others because they
// need so little CPU time. The project's claim counts, unless measurements have disproved it.
func (db *DB) NonCPUIntensive(v AppVersion) bool {
	said, light := db.SaidToBeLight(v)
	return said && !light.Overused
}

// SaidToBeLight reports whether the project or the application claims that the tasks of a version
// need little CPU time, and returns the measurements of such tasks of the project. Tasks on
// coprocessors never count as such.
func (db *DB) SaidToBeLight(v AppVersion) (said bool, measured resource.Light) {
	if v.Coproc != "" {
		return false, resource.Light{}
	}
	p, _ := db.Projects.Get(v.Project)
	if p.NonCPUIntensive {
		return true, p.Light
	}
	app, _ := db.Apps.Get(Key(v.Project, v.AppName))
	return app.NonCPUIntensive, p.Light
}
