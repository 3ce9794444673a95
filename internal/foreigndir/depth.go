package foreigndir

import "errors"

// MaxDepth is the maximum depth of nested folders whose content is counted. A path with more names
// is too long for programs to open at once.
const MaxDepth = 200

// EachFile is the number of bytes that each file or folder counts in addition to its content,
// because even an empty one occupies some of the disk's limited space for entries.
const EachFile = 4096

// ErrTooDeep means that folders are nested deeper than MaxDepth.
var ErrTooDeep = errors.New("folders are nested too deep")
