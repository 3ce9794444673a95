package state

// NonCPUIntensive reports whether the tasks of a version need so little CPU time that they run
// beside others: by the word of their project, or of their application. Those on coprocessors
// never do.
func (db *DB) NonCPUIntensive(v AppVersion) bool {
	if v.Coproc != "" {
		return false
	}
	p, _ := db.Projects.Get(v.Project)
	app, _ := db.Apps.Get(Key(v.Project, v.AppName))
	return p.NonCPUIntensive || app.NonCPUIntensive
}
