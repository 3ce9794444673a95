package owner

// Of returns false: files take their rights from their folder.
func Of(string) (uid, gid int, other bool) { return 0, 0, false }

// Another returns false: whose a folder is does not decide who may use it.
func Another(string) bool { return false }
