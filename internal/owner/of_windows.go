package owner

// Of returns false: files take their rights from their folder.
func Of(string) (uid, gid int, other bool) { return 0, 0, false }
