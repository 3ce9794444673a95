package state

import "github.com/starling-grid/starling/resource"

// NonCPUIntensive reports whether the tasks of a version run beside others, since they need so
// little CPU time: by the word of their project, as long as it is not belied by what they use.
func (db *DB) NonCPUIntensive(v AppVersion) bool {
	said, light := db.SaidToBeLight(v)
	return said && !light.Belied
}

// SaidToBeLight reports whether the tasks of a version need little CPU time by the word of their
// project, or of their application, and what was measured of such tasks of the project. Those on
// coprocessors never do.
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
