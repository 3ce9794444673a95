package match

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/protocol/venue"
)

// A Choice has the project preferences of volunteers that a plan class uses.
//
// Source: BOINC sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::check.
type Choice struct {
	ProjectPrefsTag   string         `toml:"project_prefs_tag"`   // the element whose text has to match
	ProjectPrefsRegex *regexp.Regexp `toml:"project_prefs_regex"` // a part of it, that is
	// ProjectPrefsDefaultTrue has the class suit those whose preferences lack the element.
	ProjectPrefsDefaultTrue bool   `toml:"project_prefs_default_true"`
	GPUUtilizationTag       string `toml:"gpu_utilization_tag"` // the element with the factor for ngpus
}

// A Volunteer has the facts that plan classes use about the owner of the requesting computer.
type Volunteer struct {
	ID    int64
	Prefs string // for the project, at the venue of the computer: the elements
}

// unwanted returns the reason if a volunteer refuses tasks of the class, or nil.
func (c *Choice) unwanted(v *Volunteer) *Lack {
	if c.ProjectPrefsRegex == nil || c.ProjectPrefsTag == "" {
		return nil
	}
	text, said := preference(v.Prefs, c.ProjectPrefsTag)
	if said && c.ProjectPrefsRegex.MatchString(text) || !said && c.ProjectPrefsDefaultTrue {
		return nil
	}
	return &Lack{Code: protocol.RefusedPreferences, Detail: fmt.Sprintf("leave out such tasks (%s)", c.ProjectPrefsTag)}
}

// mostUtilization is the maximum number of devices that a volunteer can make a task count for.
const mostUtilization = 16

// utilization returns the volunteer's factor for the number of devices that a task uses.
func (c *Choice) utilization(v *Volunteer) float64 {
	if c.GPUUtilizationTag == "" || v == nil {
		return 1
	}
	text, _ := preference(v.Prefs, c.GPUUtilizationTag)
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 && n <= mostUtilization {
		return n
	}
	return 1
}

// preference is the text of an element of preferences, among those for the project alone
// too, and whether there is one.
func preference(prefs, tag string) (text string, said bool) {
	venue.Each(prefs, func(s *bxml.Scanner, name string) {
		switch name {
		case tag:
			text, said = s.Text(), true
		case "project_specific":
			if own, ok := preference(s.Raw(), tag); ok {
				text, said = own, true
			}
		}
	})
	return text, said
}
