package control

import (
	"context"
	"net/http"
)

// A Problem needs the attention of the computer's owner.
type Problem struct {
	Kind    ProblemKind `json:"kind"`
	Key     string      `json:"key"` // identifies the problem as long as it lasts
	Text    string      `json:"text"`
	Cure    string      `json:"cure,omitempty"`    // the remedy
	Project string      `json:"project,omitempty"` // master URL of the project that it concerns
	Task    string      `json:"task,omitempty"`    // name of the only task that it concerns
	// Notify is set if it is worth a desktop notification: it needs its owner, and does not end
	// without help.
	Notify bool `json:"notify,omitempty"`
}

// A ProblemKind is a kind of problem.
type ProblemKind string

// The kinds of problems.
const (
	BadSettings      ProblemKind = "settings"  // a fault of a file that people edit
	NotSaved         ProblemKind = "not_saved" // the agent's state
	DiskFull         ProblemKind = "disk"
	ComputingDespite ProblemKind = "computing_despite" // the mode overrules the preferences
	NetworkDespite   ProblemKind = "network_despite"
	NoWorkWanted     ProblemKind = "no_work_wanted" // of any project
	ProjectTrouble   ProblemKind = "project"
	TasksFailing     ProblemKind = "failing"
	ProjectEnding    ProblemKind = "ending"
	TasksLate        ProblemKind = "late"
	PowerUnknown     ProblemKind = "power" // a number of [[power]] cannot be read
	NoEffect         ProblemKind = "no_effect"
	ManagerTrouble   ProblemKind = "manager"
	NewerVersion     ProblemKind = "newer"
)

// A Desktop is the part of a Status that the helper of a desktop session shows.
type Desktop struct {
	Problems []Problem `json:"problems,omitempty"`
	TrayIcon bool      `json:"tray_icon"`
	RunMode  string    `json:"run_mode"`
	Running  int       `json:"running"`           // tasks
	Compute  string    `json:"compute,omitempty"` // the reason why tasks may not run now
}

func desktopRoutes(mux *http.ServeMux, v Viewer) {
	mux.HandleFunc("GET /v1/desktop", func(w http.ResponseWriter, r *http.Request) {
		s, err := v.Status(r.Context())
		d := Desktop{Problems: s.Problems, TrayIcon: s.TrayIcon, RunMode: s.RunMode, Compute: s.Compute}
		for _, t := range s.Tasks {
			if t.Running {
				d.Running++
			}
		}
		answer(w, r, d, err)
	})
}

// Desktop asks for the part of the status that the helper of a desktop session shows.
func (c *Client) Desktop(ctx context.Context) (Desktop, error) {
	return get[Desktop](ctx, c, "desktop")
}
