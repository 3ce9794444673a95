package doctor

import (
	"strings"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

// virtualization lists the programs for virtual machines and containers that the agent found. It is
// for an agent that may use them.
func virtualization(s control.Status) (all []Finding) {
	const check = "virtual machines and containers"
	if len(s.Virtualization) > 0 {
		all = append(all, Finding{Check: check, Grade: Good, Text: words.Plain(strings.Join(s.Virtualization, ", "))})
	}
	for _, why := range s.VirtualizationFaults {
		all = append(all, Finding{check, Note, words.Plain(why), words.T("correct that and restart the agent")})
	}
	if len(all) == 0 {
		all = append(all, Finding{check, Note, words.T("neither VirtualBox nor Podman nor Docker was found when the agent started"), words.T("install what your projects need and restart the agent, or remove virtualization = true from starling.toml")})
	}
	return all
}
