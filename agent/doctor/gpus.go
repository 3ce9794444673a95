package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/resource"
)

// devices lists the coprocessors that tasks may use, with the library that found each, and the
// coprocessors that cannot be used.
func devices(s settings.Settings, r gpus.Report) (all []Finding) {
	const check = "coprocessors"
	set := gpus.Join(s, r)
	for _, g := range set.Groups {
		text := g.String()
		if by := by(g); by != "" {
			text += ", " + by
		}
		all = append(all, Finding{Check: check, Grade: Good, Text: text})
	}
	for _, d := range set.Unused {
		all = append(all, Finding{Check: check, Grade: Note, Text: fmt.Sprintf("%s (%v %d): %s", d.Name, resource.Kind(d.Kind), d.Number, d.Why)})
	}
	unused := make(map[string]bool)
	for _, d := range set.Unused {
		unused[d.Kind] = true
	}
	for _, a := range set.Absent {
		if !unused[string(a.Kind)] && !strings.HasPrefix(a.Why, gpus.QueryFailed) {
			all = append(all, Finding{Check: check, Grade: Note, Text: a.Why})
		}
	}
	all = append(all, failures(check, r)...)
	if len(all) == 0 {
		all = append(all, Finding{Check: check, Grade: Good, Text: "none found"})
	}
	if n := len(r.CPUs()); n > 0 {
		all = append(all, Finding{Check: check, Grade: Good, Text: "OpenCL also offers " + words.Count(n, "CPU").String() + " (" + r.CPUs()[0].Facts.Name + "), which tasks use as such only if you declare it"})
	}
	return all
}

// failures returns the reasons why libraries could not be asked, each once.
func failures(check string, r gpus.Report) (all []Finding) {
	if f := r.OpenCL.Failure; f != "" && f == r.NVIDIA.Failure { // one reason for both libraries, so neither was asked
		return []Finding{{Check: check, Grade: Note, Text: "GPUs were not looked for: " + f}}
	}
	const fix = "update or reinstall the driver; computing on the CPUs continues"
	for library, why := range map[string]string{"OpenCL": r.OpenCL.Failure, "CUDA": r.NVIDIA.Failure} {
		if why != "" {
			all = append(all, Finding{check, Note, "GPUs were not looked for by " + library + ". " + why, fix})
		}
	}
	return all
}

// by names the library or the setting by which a group was found.
func by(g gpus.Group) string {
	d := g.Devices[0]
	text := ""
	switch {
	case d.CUDA > 0:
		text = fmt.Sprintf("found by CUDA %d.%d", d.CUDA/1000, d.CUDA%1000/10)
		if n, err := strconv.Atoi(d.Driver); err == nil {
			text += fmt.Sprintf(", driver %d.%02d", n/100, n%100)
		}
		if d.OpenCL != nil {
			text += ", and by OpenCL"
		}
	case d.OpenCL != nil:
		text = "found by OpenCL, driver " + d.OpenCL.DriverVersion
	case g.Declared:
		return "declared in starling.toml"
	}
	if text != "" && g.Declared {
		text += ", declared in starling.toml"
	}
	return text
}
