package state

// NonCPUIntensive reports whether the tasks of a version run beside others, since they need so
// little CPU time: by the word of their project, as long as it is not belied by what they use.
func (db *DB) NonCPUIntensive(v AppVersion) bool {
	p, _ := db.Projects.Get(v.Project)
	return db.SaidToBeLight(v) && !p.Light.Belied
}

// SaidToBeLight reports whether the tasks of a version need little CPU time by the word of their
// project, or of their application. Those on coprocessors never do.
func (db *DB) SaidToBeLight(v AppVersion) bool {
	if v.Coproc != "" {
		return false
	}
	p, _ := db.Projects.Get(v.Project)
	app, _ := db.Apps.Get(Key(v.Project, v.AppName))
	return p.NonCPUIntensive || app.NonCPUIntensive
}
