package doctor

import (
	"strings"

	"github.com/starling-grid/starling/agent/control"
)

// images reports whether tasks can run in container images, on systems where images exist.
func images(s control.Status) []Finding {
	const check = "container images"
	switch {
	case s.Images:
		return []Finding{{Check: check, Grade: Good, Text: "run in the sandbox"}}
	case s.ImagesFault == "":
		return nil
	}
	why, cure, ok := strings.Cut(s.ImagesFault, " You can: ")
	if !ok {
		cure = "see the agent's log"
	}
	return []Finding{{check, Note, "cannot run: " + strings.TrimSuffix(why, "."), cure + "; then restart the agent"}}
}
