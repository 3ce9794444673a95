package doctor

import (
	"errors"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// images reports whether tasks can run in container images, on systems where images exist, and which
// coprocessors they cannot use there.
func images(s control.Status, coprocs gpus.Set) []Finding {
	const check = "container images"
	switch {
	case s.Images:
		all := []Finding{{Check: check, Grade: Good, Text: words.T("run in the sandbox")}}
		for _, g := range coprocs.Groups {
			_, err := coprocs.InImage(g.Kind)
			if missing, ok := errors.AsType[*gpus.MissingError](err); ok {
				r := reason.Reason{Code: reason.DriverIncomplete, About: missing.File}
				all = append(all, Finding{check, Note, r.Text(time.Now()), r.Cure("")})
			}
		}
		return all
	case s.ImagesFault == "":
		return nil
	}
	cure := words.Or(words.Plain(s.ImagesCure), words.T("see the agent's log"))
	return []Finding{{check, Note, words.T("cannot run: {why}", "why", strings.TrimSuffix(s.ImagesFault, ".")), words.T("{cure}; then restart the agent", "cure", cure)}}
}
