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
		all = append(all, Finding{Check: check, Grade: Good, Text: words.Join([]words.Text{words.Plain(g.String()), by(g)}, ", ")})
	}
	for _, d := range set.Unused {
		all = append(all, Finding{Check: check, Grade: Note, Text: words.Plain(fmt.Sprintf("%s (%v %d): %s", d.Name, resource.Kind(d.Kind), d.Number, d.Why))})
	}
	unused := make(map[string]bool)
	for _, d := range set.Unused {
		unused[d.Kind] = true
	}
	for _, a := range set.Absent {
		if !unused[string(a.Kind)] && !strings.HasPrefix(a.Why, gpus.QueryFailed) {
			all = append(all, Finding{Check: check, Grade: Note, Text: words.Plain(a.Why)})
		}
	}
	all = append(all, failures(check, r)...)
	if len(all) == 0 {
		all = append(all, Finding{Check: check, Grade: Good, Text: words.T("none found")})
	}
	if n := len(r.CPUs()); n > 0 {
		all = append(all, Finding{Check: check, Grade: Good, Text: words.T("OpenCL also offers {cpus} ({name}), which tasks use as such only if you declare it", "cpus", words.Count(n, "CPU"), "name", r.CPUs()[0].Facts.Name)})
	}
	return all
}

// failures returns the reasons why libraries could not be asked, each once.
func failures(check string, r gpus.Report) (all []Finding) {
	if f := r.OpenCL.Failure; f != "" && f == r.NVIDIA.Failure { // one reason for both libraries, so neither was asked
		return []Finding{{Check: check, Grade: Note, Text: words.T("GPUs were not looked for: {why}", "why", words.T(f))}}
	}
	fix := words.T("update or reinstall the driver; computing on the CPUs continues")
	for library, why := range map[string]string{"OpenCL": r.OpenCL.Failure, "CUDA": r.NVIDIA.Failure} {
		if why != "" {
			all = append(all, Finding{check, Note, words.T("GPUs were not looked for by {library}. {why}", "library", library, "why", words.T(why)), fix})
		}
	}
	return all
}

// by names the library or the setting by which a group was found.
func by(g gpus.Group) words.Text {
	d := g.Devices[0]
	var all []words.Text
	switch {
	case d.CUDA > 0:
		all = append(all, words.T("found by CUDA {version}", "version", fmt.Sprintf("%d.%d", d.CUDA/1000, d.CUDA%1000/10)))
		if n, err := strconv.Atoi(d.Driver); err == nil {
			all = append(all, words.T("driver {version}", "version", fmt.Sprintf("%d.%02d", n/100, n%100)))
		}
		if d.OpenCL != nil {
			all = append(all, words.T("and by OpenCL"))
		}
	case d.OpenCL != nil:
		all = append(all, words.T("found by OpenCL"), words.T("driver {version}", "version", d.OpenCL.DriverVersion))
	}
	if g.Declared {
		all = append(all, words.T("declared in starling.toml"))
	}
	return words.Join(all, ", ")
}
