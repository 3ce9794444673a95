package foreigndir

import "errors"

// MaxDepth is how deep folders may be nested for what is in them to be counted.
// No path of that many names fits what programs can open at once.
const MaxDepth = 200

// EachFile is how many bytes a file or folder counts for beside its content: an empty one takes
// its place on the disk, too, and there is only so much of it.
const EachFile = 4096

// ErrTooDeep says that folders are nested deeper than MaxDepth.
var ErrTooDeep = errors.New("folders are nested too deep")
