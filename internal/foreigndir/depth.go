package foreigndir

import "errors"

// MaxDepth is how deep folders may be nested for what is in them to be counted.
// No path of that many names fits what programs can open at once.
const MaxDepth = 200

// ErrTooDeep says that folders are nested deeper than MaxDepth.
var ErrTooDeep = errors.New("folders are nested too deep")
