// Package affinity determines which files a host keeps from a result that it computed, so that the
// next workunit of a chain can be sent to the host with the files. It is pure.
package affinity

import (
	"fmt"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// Files returns the names of the sticky files of a workunit and of a result of it,
// sorted.
func Files(wu store.Workunit, r store.Result) ([]string, error) {
	var out []string
	for _, doc := range []string{wu.XMLDoc, r.XMLDocIn} {
		e, err := protocol.ParseElements([]byte(doc))
		if err != nil {
			return nil, fmt.Errorf("result %s: %w", r.Name, err)
		}
		for _, f := range e.Files {
			if f.Sticky {
				out = append(out, f.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
