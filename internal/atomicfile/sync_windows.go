package atomicfile

// SyncDir does nothing, because NTFS journals renames and removals in a folder, and Windows cannot
// sync a folder.
func SyncDir(string) error { return nil }
