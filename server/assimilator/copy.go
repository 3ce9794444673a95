package assimilator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// Copy puts each workunit's outcome into a folder of its own: the canonical
// output files under their logical names, and result.json. Files appear whole;
// result.json comes last, so where it is, all is.
type Copy struct {
	Dir   string    // the folder that holds those of the workunits
	Files blob.Tree // output files
	App   string    // the application's name
}

// tmpDir is where files are written before they get their place. No workunit's name
// begins with a dot.
const tmpDir = ".tmp"

// outcome is what result.json holds.
type outcome struct {
	Workunit  string     `json:"workunit"`
	App       string     `json:"app"`
	Batch     int64      `json:"batch"`
	Canonical *canonical `json:"canonical,omitempty"`
	Errors    []string   `json:"errors,omitempty"` // why the workunit was given up
	Files     []string   `json:"files"`            // logical names, in this folder
	Results   []instance `json:"results"`
}

type canonical struct {
	Result string  `json:"result"`
	HostID int64   `json:"hostid"`
	UserID int64   `json:"userid"`
	Credit float64 `json:"credit"`
}

type instance struct {
	Name          string    `json:"name"`
	HostID        int64     `json:"hostid,omitempty"`
	Outcome       string    `json:"outcome"`
	ValidateState string    `json:"validate_state"`
	ExitStatus    int64     `json:"exit_status"`
	GrantedCredit float64   `json:"granted_credit"`
	CPUTime       float64   `json:"cpu_time"`
	ElapsedTime   float64   `json:"elapsed_time"`
	ReceivedTime  time.Time `json:"received_time,omitzero"`
}

// Flush makes the folders of workunits durable; each saw to what it holds.
func (c Copy) Flush() error { return atomicfile.SyncDir(c.Dir) }

// Assimilate does what the type says.
func (c Copy) Assimilate(_ context.Context, wu store.Workunit, results []store.Result, canon *store.Result) error {
	if err := protocol.ValidFileName(wu.Name); err != nil {
		return err
	}
	dir := filepath.Join(c.Dir, wu.Name)
	err := os.Mkdir(dir, 0o750)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o750) // somebody has moved all results away
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	out := outcome{Workunit: wu.Name, App: c.App, Batch: wu.Batch, Errors: wu.ErrorMask.Reasons(), Files: []string{}}
	if canon != nil {
		out.Canonical = &canonical{Result: canon.Name, HostID: canon.HostID, UserID: canon.UserID, Credit: wu.CanonicalCredit}
		refs, err := hook.Outputs(*canon)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			err := c.put(dir, ref)
			if ref.Optional && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			out.Files = append(out.Files, ref.Logical())
		}
	}
	for _, r := range results {
		out.Results = append(out.Results, instance{
			Name: r.Name, HostID: r.HostID, Outcome: r.Outcome.String(), ValidateState: r.ValidateState.String(),
			ExitStatus: r.ExitStatus, GrantedCredit: r.GrantedCredit, CPUTime: r.CPUTime,
			ElapsedTime: r.ElapsedTime, ReceivedTime: r.ReceivedTime.UTC(),
		})
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(c.Dir, tmpDir)
	if err := os.Mkdir(tmp, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.WriteVia(tmp, filepath.Join(dir, "result.json"), append(text, '\n'), 0o644)
}

// put gives one output file its logical name in a workunit's folder.
func (c Copy) put(dir string, ref protocol.FileRef) error {
	if err := protocol.ValidFileName(ref.Logical()); err != nil {
		return err
	}
	err := c.Files.CopyTo(ref.FileName, filepath.Join(dir, ref.Logical()))
	if err != nil {
		return fmt.Errorf("output file %s: %w", ref.FileName, err)
	}
	return nil
}
