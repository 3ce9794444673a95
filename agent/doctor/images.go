package doctor

import (
	"strings"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

// images reports whether tasks can run in container images, on systems where images exist.
func images(s control.Status) []Finding {
	const check = "container images"
	switch {
	case s.Images:
		return []Finding{{Check: check, Grade: Good, Text: words.T("run in the sandbox")}}
	case s.ImagesFault == "":
		return nil
	}
	cure := words.Or(words.Plain(s.ImagesCure), words.T("see the agent's log"))
	return []Finding{{check, Note, words.T("cannot run: {why}", "why", strings.TrimSuffix(s.ImagesFault, ".")), words.T("{cure}; then restart the agent", "cure", cure)}}
}
