package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A Workunit is the description of a workunit for programs. The names are the names of the
// database's columns.
type Workunit struct {
	ID             int64    `json:"id"`
	Name           string   `json:"name"`
	App            string   `json:"app"`
	Batch          int64    `json:"batch"`
	XMLDoc         string   `json:"xml_doc"`
	RscFpopsEst    float64  `json:"rsc_fpops_est"`
	MinQuorum      int      `json:"min_quorum"`
	TargetNResults int      `json:"target_nresults"`
	ErrorMask      int64    `json:"error_mask"`
	Errors         []string `json:"errors"` // the bits of error_mask in words
}

// A Result is the description of a result for programs.
type Result struct {
	ID            int64     `json:"id"`
	Name          string    `json:"name"`
	HostID        int64     `json:"hostid"`
	UserID        int64     `json:"userid"`
	Outcome       string    `json:"outcome"`
	ValidateState string    `json:"validate_state"`
	ExitStatus    int64     `json:"exit_status"`
	CPUTime       float64   `json:"cpu_time"`
	ElapsedTime   float64   `json:"elapsed_time"`
	GrantedCredit float64   `json:"granted_credit"`
	ReceivedTime  time.Time `json:"received_time,omitzero"`
	StderrOut     string    `json:"stderr_out"`
	Files         []File    `json:"files"` // those that are there
}

// A File is an output file of a result.
type File struct {
	Name   string `json:"name"` // the application's name for it
	Path   string `json:"path"` // absolute (the program may only read it)
	NBytes int64  `json:"nbytes"`
}

// DescribeWorkunit returns the description of a workunit of the application called app for
// programs.
func DescribeWorkunit(wu store.Workunit, app string) Workunit {
	errs := wu.ErrorMask.Reasons()
	if errs == nil {
		errs = []string{}
	}
	return Workunit{
		ID: wu.ID, Name: wu.Name, App: app, Batch: wu.Batch, XMLDoc: wu.XMLDoc, RscFpopsEst: wu.RscFpopsEst,
		MinQuorum: wu.MinQuorum, TargetNResults: wu.TargetNResults, ErrorMask: int64(wu.ErrorMask), Errors: errs,
	}
}

// Files is a tree of files.
type Files interface {
	Size(ctx context.Context, name string) (int64, error)
	Locate(ctx context.Context, name string) (string, error)
}

// DescribeResult returns the description of a result for programs. It includes the output files
// unless files is nil.
func DescribeResult(ctx context.Context, r store.Result, files Files) (Result, error) {
	d := Result{
		ID: r.ID, Name: r.Name, HostID: r.HostID, UserID: r.UserID, Outcome: r.Outcome.String(),
		ValidateState: r.ValidateState.String(), ExitStatus: r.ExitStatus, CPUTime: r.CPUTime,
		ElapsedTime: r.ElapsedTime, GrantedCredit: r.GrantedCredit, StderrOut: r.StderrOut, Files: []File{},
	}
	if !r.ReceivedTime.IsZero() {
		d.ReceivedTime = r.ReceivedTime.UTC()
	}
	if files == nil {
		return d, nil
	}
	refs, err := Outputs(r)
	if err != nil {
		return d, err
	}
	for _, ref := range refs {
		n, err := files.Size(ctx, ref.FileName)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return d, err
		}
		path, err := files.Locate(ctx, ref.FileName)
		if err != nil {
			return d, err
		}
		d.Files = append(d.Files, File{Name: ref.Logical(), Path: path, NBytes: n})
	}
	return d, nil
}

// Outputs returns the output files that a result was to upload. Sticky files without a certificate
// stay on the host.
func Outputs(r store.Result) ([]protocol.FileRef, error) {
	e, err := protocol.ParseElements([]byte(r.XMLDocIn))
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", r.Name, err)
	}
	if len(e.Results) != 1 {
		return nil, fmt.Errorf("result %s: its description holds %d results", r.Name, len(e.Results))
	}
	local := make(map[string]bool)
	for _, f := range e.Files {
		local[f.Name] = f.Sticky && f.XMLSignature == ""
	}
	return slices.DeleteFunc(e.Results[0].FileRefs, func(ref protocol.FileRef) bool { return local[ref.FileName] }), nil
}
