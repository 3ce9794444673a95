package neighbor

import "os"

const noFollow = 0

// isOwn: a file that is locked as a whole cannot be written to here.
func isOwn(os.FileInfo) bool { return false }
