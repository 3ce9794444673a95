package assimilator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// Copy puts each workunit's outcome into a separate folder: the canonical output files under their
// logical names, and result.json. A folder appears whole: it is made in a temporary place, and
// moved when all its content is durable. Copy is safe for concurrent use, except for Flush.
type Copy struct {
	Dir   string // the parent of the workunits' folders
	Files Files  // output files
	App   string // the application's name
	// Divided determines the folder within Dir for a workunit, see Divisions. The empty string is
	// Flat.
	Divided string

	mu    sync.Mutex
	group *atomicfile.Group // begun before the first of made
	apart string            // where folders are made meanwhile, below aside: this one's own
	made  []finished        // the folders that wait there
}

// A finished workunit has a folder aside, which gets its place in another one, "" Dir.
type finished struct{ name, in string }

// How Dir is divided.
const (
	Flat    = "flat"  // not at all
	ByBatch = "batch" // a folder for each batch, and one for workunits without a batch
	ByDay   = "day"   // a folder for each day on which workunits were created, UTC

	ByBatchOrDay = "batch_or_day" // a folder for each batch, and by day for workunits without a batch
)

// Divisions are all that Divided can be.
var Divisions = []string{Flat, ByBatch, ByDay, ByBatchOrDay}

// in returns the folder in which a workunit's is, as ever when it is asked again.
func (c *Copy) in(wu store.Workunit) string { return division(c.Divided, wu) }

func division(divided string, wu store.Workunit) string {
	byBatch := divided == ByBatch || divided == ByBatchOrDay
	switch {
	case byBatch && wu.Batch != 0:
		return fmt.Sprint("batch_", wu.Batch)
	case divided == ByBatch:
		return "no_batch"
	case divided == ByDay || divided == ByBatchOrDay:
		return wu.CreateTime.UTC().Format(time.DateOnly)
	}
	return ""
}

// Folder returns the place of a workunit's outcome that Copy has put below dir, even if dir was
// divided in another way then. If the outcome is not there, Folder returns the place where Copy
// would put it.
func Folder(dir, divided string, wu store.Workunit) string {
	in := func(divided string) string { return filepath.Join(dir, division(divided, wu), wu.Name) }
	for _, d := range append([]string{divided}, Divisions...) {
		if _, err := os.Stat(filepath.Join(in(d), summary)); err == nil {
			return in(d)
		}
	}
	return in(divided)
}

// Files is a tree of files.
type Files interface {
	CopyTo(ctx context.Context, name, to string) error
}

// aside is the folder in which folders are made before they are moved to their place. Each process
// uses a separate subfolder, since two may process the same workunit. A workunit's name cannot
// start with a dot.
const aside = ".tmp"

// abandoned is the age from which a temporary folder is taken to be left by a process that has
// ended. A pass takes seconds.
const abandoned = 24 * time.Hour

const summary = "result.json"

// outcome is the content of result.json.
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

// Assimilate makes a folder in the temporary place. A second time, as after a crash, it starts
// over.
func (c *Copy) Assimilate(ctx context.Context, wu store.Workunit, results []store.Result, canon *store.Result) error {
	if err := protocol.ValidFileName(wu.Name); err != nil {
		return err
	}
	if err := c.begin(); err != nil {
		return err
	}
	dir := c.aside(wu.Name)
	err := os.Mkdir(dir, 0o750)
	if errors.Is(err, fs.ErrExist) {
		if err = os.RemoveAll(dir); err == nil {
			err = os.Mkdir(dir, 0o750)
		}
	}
	if err != nil {
		return err
	}
	out := c.outcome(wu, results)
	if canon != nil {
		out.Canonical = &canonical{Result: canon.Name, HostID: canon.HostID, UserID: canon.UserID, Credit: wu.CanonicalCredit}
		if out.Files, err = c.outputs(ctx, dir, *canon); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	if err := writeNew(filepath.Join(dir, summary), append(text, '\n')); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, finished{wu.Name, c.in(wu)})
	return nil
}

// writeNew writes a file that must not exist: it could be a link to an output, which would be lost.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // for all to read
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (c *Copy) aside(workunit string) string { return filepath.Join(c.apart, workunit) }

// begin sees to it that there is a group, and a place for its folders.
func (c *Copy) begin() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.group != nil {
		return nil
	}
	all := filepath.Join(c.Dir, aside)
	if err := os.MkdirAll(all, 0o750); err != nil {
		return err
	}
	if err := sweep(all); err != nil {
		return err
	}
	if c.apart, err = os.MkdirTemp(all, ""); err != nil {
		return err
	}
	c.group, err = atomicfile.NewGroup(c.Dir)
	return err
}

// sweep removes abandoned folders.
func sweep(all string) error {
	entries, err := os.ReadDir(all)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if st, err := e.Info(); err == nil && time.Since(st.ModTime()) > abandoned {
			if err := os.RemoveAll(filepath.Join(all, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flush gives the folders that were made their places, durably.
func (c *Copy) Flush() error {
	made, group := c.made, c.group
	c.made, c.group = nil, nil
	if group == nil {
		return nil
	}
	defer group.Close()
	defer func() { _ = os.RemoveAll(c.apart) }() // with the unfinished folders
	var files, folders []string
	for _, wu := range made {
		files, folders = append(files, filepath.Join(c.aside(wu.name), summary)), append(folders, c.aside(wu.name))
	}
	if err := group.Sync(files, folders); err != nil {
		return err
	}
	into, failed := make(map[string]bool), make(NotTaken)
	for _, wu := range made {
		if !into[wu.in] {
			if err := os.MkdirAll(filepath.Join(c.Dir, wu.in), 0o750); err != nil {
				failed[wu.name] = err
				continue
			}
			into[wu.in] = true
		}
		if err := c.place(wu); err != nil {
			failed[wu.name] = err
		}
	}
	delete(into, "")
	for dir := range into {
		if err := atomicfile.SyncDir(filepath.Join(c.Dir, dir)); err != nil {
			return err
		}
	}
	if err := atomicfile.SyncDir(c.Dir); err != nil || len(failed) == 0 {
		return err
	}
	return failed
}

// Kept implements Keeper.
func (c *Copy) Kept(wu store.Workunit) (n int64, err error) {
	entries, err := os.ReadDir(filepath.Join(c.Dir, c.in(wu), wu.Name))
	for _, e := range entries {
		info, failed := e.Info()
		if failed != nil {
			return 0, failed
		}
		n += info.Size()
	}
	return n, err
}

// place moves a folder to its final place, and replaces the one that is there.
func (c *Copy) place(wu finished) error {
	from, to := c.aside(wu.name), filepath.Join(c.Dir, wu.in, wu.name)
	err := os.Rename(from, to)
	if err == nil {
		return nil
	}
	if _, there := os.Stat(to); there != nil {
		return err
	}
	// One that was made otherwise may be of many.
	if _, ours := os.Stat(filepath.Join(to, summary)); ours != nil {
		return fmt.Errorf("%s is not the folder of a workunit: move it away", to)
	}
	old := from + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(to, old); err != nil { // another process may be quicker: the next pass sees to it
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// outcome describes a workunit, except for its canonical result.
func (c *Copy) outcome(wu store.Workunit, results []store.Result) outcome {
	out := outcome{Workunit: wu.Name, App: c.App, Batch: wu.Batch, Errors: wu.ErrorMask.Reasons(), Files: []string{}}
	for _, r := range results {
		out.Results = append(out.Results, instance{
			Name: r.Name, HostID: r.HostID, Outcome: r.Outcome.String(), ValidateState: r.ValidateState.String(),
			ExitStatus: r.ExitStatus, GrantedCredit: r.GrantedCredit, CPUTime: r.CPUTime,
			ElapsedTime: r.ElapsedTime, ReceivedTime: r.ReceivedTime.UTC(),
		})
	}
	return out
}

// outputs puts the canonical outputs into a folder and returns their names there.
func (c *Copy) outputs(ctx context.Context, dir string, canon store.Result) ([]string, error) {
	refs, err := hook.Outputs(canon)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, ref := range refs {
		err := c.put(ctx, dir, ref)
		if ref.Optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		names = append(names, ref.Logical())
	}
	return names, nil
}

// put gives one output file its logical name in a workunit's folder.
func (c *Copy) put(ctx context.Context, dir string, ref protocol.FileRef) error {
	if err := protocol.ValidFileName(ref.Logical()); err != nil {
		return err
	}
	if strings.EqualFold(ref.Logical(), summary) {
		return fmt.Errorf("output file %s is called %s like the description of the outcome: give it another open_name in the output template of future workunits, and let an assimilator exec:CMD take these", ref.FileName, ref.Logical())
	}
	err := c.Files.CopyTo(ctx, ref.FileName, filepath.Join(dir, ref.Logical()))
	if err != nil {
		return fmt.Errorf("output file %s: %w", ref.FileName, err)
	}
	return nil
}
