package boincimport

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A Taken is a project in the agent's terms.
type Taken struct {
	Project  state.Project
	Apps     []state.App
	Files    []state.File
	Versions []state.AppVersion
	Units    []state.Workunit
	Results  []state.Result
}

// convert describes a project of BOINC's client in the agent's terms. Slots are still the client's.
// Files are assumed to be as described in its state file. The error names everything that the agent
// cannot continue with.
func convert(p protocol.ClientProject, tasks []protocol.ActiveTask, now time.Time) (Taken, error) {
	u := p.MasterURL
	t := Taken{Project: project(p, now)}
	for _, a := range p.Apps {
		t.Apps = append(t.Apps, state.App{Project: u, App: a})
	}
	known := make(map[string]bool)
	appFiles, outputs := make(map[string]bool), make(map[string]protocol.FileRef)
	for _, v := range p.AppVersions {
		rec := state.AppVersion{Project: u, AppVersion: v}
		t.Versions = append(t.Versions, rec)
		known[rec.ID()] = true
		for _, ref := range v.FileRefs {
			appFiles[ref.FileName] = true
		}
	}
	units := make(map[string]protocol.Workunit)
	for _, w := range p.Workunits {
		t.Units = append(t.Units, state.Workunit{Project: u, Workunit: w})
		units[w.Name] = w
	}
	begun := make(map[string]protocol.ActiveTask)
	for _, a := range tasks {
		if a.ProjectURL == u {
			begun[a.ResultName] = a
		}
	}
	var errs []error
	for _, h := range p.Held {
		if h.Acknowledged {
			continue // the server has it
		}
		r := result(u, h, units[h.WorkunitName].AppName, now)
		if a, ok := begun[h.Name]; ok && r.State == protocol.ClientDownloaded && !r.ReadyToReport {
			r.Slot, r.Started = a.Slot, r.Received
			r.Checkpoint = state.Checkpoint{CPUTime: a.CPUTime, Elapsed: a.Elapsed, Fraction: a.Fraction}
		}
		if r.Computing() && !r.ReadyToReport && !known[r.Version] {
			errs = append(errs, fmt.Errorf("%s: task %s: its app version is missing", u, h.Name))
		}
		for _, ref := range r.FileRefs {
			outputs[ref.FileName] = ref
		}
		t.Results = append(t.Results, r)
	}
	for _, f := range p.Files {
		if err := protocol.ValidFileName(f.Name); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", u, err))
			continue
		}
		t.Files = append(t.Files, file(u, f, appFiles[f.Name], outputs))
	}
	return t, errors.Join(errs...)
}

func project(p protocol.ClientProject, now time.Time) state.Project {
	return state.Project{
		MasterURL: p.MasterURL, Name: p.Name, AttachedAt: now,
		SchedulerURLs: p.SchedulerURLs, CodeSignKey: p.CodeSignKey,
		HostID: p.HostID, RPCSeqno: p.RPCSeqno + 1, // the number it wrote down may have been used
		UserID: p.UserID, UserName: p.UserName, TeamName: p.TeamName, EmailHash: p.EmailHash, Venue: p.HostVenue,
		UserTotalCredit: p.UserTotalCredit, UserExpavgCredit: p.UserExpavgCredit,
		HostTotalCredit: p.HostTotalCredit, HostExpavgCredit: p.HostExpavgCredit,
		Estimates: estimates(p.DurationCorrectionFactor),
		Contact:   state.Contact{NRPCFailures: p.NRPCFailures, MinRPCTime: p.MinRPCTime, Initialized: p.HostID != 0},
	}
}

func result(u string, h protocol.HeldResult, app string, now time.Time) state.Result {
	r := state.Result{
		Project: u, Result: h.Result, State: h.State, Slot: state.NoSlot,
		Received: h.Received, Completed: h.Completed, ExitStatus: h.ExitStatus, Stderr: h.StderrOut,
		CPUTime: h.FinalCPUTime, Elapsed: h.FinalElapsedTime, PeakRSS: h.PeakWorkingSet, Suspended: h.Suspended,
		ReadyToReport: h.ReadyToReport,
	}
	r.Version = state.VersionKey(u, protocol.AppVersion{AppName: app, Platform: h.Platform, VersionNum: h.VersionNum, PlanClass: h.PlanClass})
	if r.Received.IsZero() {
		r.Received = now
	}
	if !r.Computing() {
		r.Started = r.Received
		if h.ExitStatus != 0 {
			r.Message = fmt.Sprintf("exit status %d", h.ExitStatus)
		}
	}
	// A failed result no longer waits for anything, even if the client had not marked it yet.
	over := []protocol.ClientState{protocol.ClientComputeError, protocol.ClientUploaded, protocol.ClientAborted, protocol.ClientUploadFailed}
	if r.ReadyToReport || slices.Contains(over, r.State) {
		r.Ready(now)
	}
	return r
}

// file describes a file. If the client gave it up, it is given up here too.
func file(u string, f protocol.FileInfo, appFile bool, outputs map[string]protocol.FileRef) state.File {
	ref, output := outputs[f.Name]
	status, msg := f.Status, f.ErrorMsg
	rec := state.File{Project: u, FileInfo: f, AppFile: appFile, Output: output}
	rec.Status, rec.ErrorMsg, rec.Uploaded = 0, "", false
	switch {
	case status == 1:
		rec.Local = state.FilePresent
	case status < 0:
		rec.Local, rec.ErrNum, rec.Error = state.FileFailed, status, msg
		if msg == "" {
			rec.Error = fmt.Sprintf("error %d in BOINC's client", status)
		}
	}
	if output {
		rec.Done = f.Uploaded || len(f.UploadURLs) == 0 || ref.Optional && status < 0
	}
	return rec
}
