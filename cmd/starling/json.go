package main

import (
	"encoding/json"
	"io"

	"github.com/starling-grid/starling/agent/boincexport"
	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/doctor"
)

// jsonVersion is the version of the output of --json. It changes with anything that could break
// scripts. New keys do not change it.
const jsonVersion = 1

// The output of commands with --json, in addition to explanation and preferences. All are written
// by writeJSON.
type (
	// A statusJSON has its version as format: version is the program's.
	statusJSON struct {
		Format int `json:"format"`
		control.Status
	}
	doctorJSON struct {
		Version  int              `json:"version"`
		Findings []doctor.Finding `json:"findings"`
	}
	historyJSON struct {
		Version int                   `json:"version"`
		Tasks   []control.HistoryTask `json:"tasks"`
	}
	timelineJSON struct {
		Version int            `json:"version"`
		Spans   []control.Span `json:"spans"`
	}
	noticesJSON struct {
		Version int              `json:"version"`
		Notices []control.Notice `json:"notices"`
	}
	managerJSON struct {
		Version int              `json:"version"`
		Manager *control.Manager `json:"manager"` // null without one
	}
	invitationJSON struct {
		Version int `json:"version"`
		control.Invitation
	}
	pairedJSON struct {
		Version   int              `json:"version"`
		Computers []control.Paired `json:"computers"`
	}
	importJSON struct {
		Version int `json:"version"`
		boincimport.Report
	}
	exportJSON struct {
		Version int `json:"version"`
		boincexport.Report
	}
)

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
