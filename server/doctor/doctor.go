// Package doctor finds errors in a project, in its database and among its files, and suggests
// remedies to its operator.
//
// It changes nothing except in Mend, and can be used while a server runs. The store defines the
// checks of rows. The package defines the checks of files that belong to rows.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/unsendable"
)

// batch is the number of rows looked at at a time.
const batch = 1000

// A Project is a project to examine.
type Project struct {
	Store            *store.Store
	Download, Upload blob.Reader
	CodeSign         *protocol.PublicKey // with which programs must be signed
	Once             match.Once

	// Progress, if not nil, is called by Examine before each of its steps, counted from 1.
	Progress func(step, steps int, rule string)
}

// Examine returns the violated invariants. It reads the whole database and all programs. Of other
// files it checks only the size.
func (p *Project) Examine(ctx context.Context) ([]store.Violation, error) {
	all, checks := []store.Violation{}, store.Checks()
	files := []func(context.Context, *found) error{p.programs, p.inputs, p.outcomes}
	step := func(i int, rule string) {
		if p.Progress != nil {
			p.Progress(i+1, len(checks)+len(files), rule)
		}
	}
	for i, c := range checks {
		step(i, c.Rule)
		wrong, err := store.Read(ctx, p.Store, c.Look)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Rule, err)
		}
		if all = append(all, wrong...); len(wrong) > 0 && wrong[0].Damage {
			break
		}
	}
	for i, look := range files {
		step(len(checks)+i, "the files that the records name exist")
		var f found
		if err := look(ctx, &f); err != nil {
			return nil, err
		}
		if f.Count > 0 {
			all = append(all, f.Violation)
		}
	}
	return all, nil
}

// Advise returns problems that are not errors in the records but need the operator all the same:
// work that daemons could not handle, and results that no computer can have. It reports a lack of computers only after work has waited for
// them for as long as computers count as active.
func (p *Project) Advise(ctx context.Context, now time.Time) ([]store.Violation, error) {
	var found []unsendable.Finding
	out := []store.Violation{}
	err := p.Store.View(ctx, func(tx *store.View) error {
		troubles, err := pass.Advise(tx, now)
		if err != nil {
			return err
		}
		out = append(out[:0], troubles...)
		found, err = unsendable.Look(tx, p.Once, now)
		return err
	})
	for _, f := range found {
		if f.Cause == unsendable.NoHost && now.Sub(f.Since) < unsendable.Window {
			continue
		}
		out = append(out, store.Violation{
			Rule: "every unsent result can be run by an active computer", Count: int(f.Results), Rows: []string{f.Text.String()}, Mend: f.Cure, Advice: true,
		})
	}
	return out, err
}

// Mend repairs everything that can be repaired without loss, and leaves the rest.
func (p *Project) Mend(ctx context.Context, now time.Time) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		tx.SetCause(now, "operator", "doctor --mend")
		return tx.Mend(now)
	})
}

// found is a Violation that grows.
type found struct{ store.Violation }

func (f *found) add(format string, args ...any) {
	if f.Count++; f.Count <= 5 {
		f.Rows = append(f.Rows, fmt.Sprintf(format, args...))
	}
}

// programs looks at the files of app versions.
func (p *Project) programs(ctx context.Context, f *found) error {
	f.Rule = "the files of app versions exist, are intact and are signed with the project's key"
	f.Mend = "restore a missing file with starling-server file stage DIR FILE --name NAME; move a changed one out of download/ first; if the original is lost, publish it under a higher number with starling-server version add"
	versions, err := store.Read(ctx, p.Store, (*store.View).AllAppVersions)
	for _, v := range versions {
		e, err := protocol.ParseElements([]byte(v.XMLDoc))
		if err != nil {
			return fmt.Errorf("app version %d: %w", v.ID, err)
		}
		for _, file := range e.Files {
			if len(file.DownloadURLs) > 0 {
				continue // on other servers
			}
			if err := p.program(ctx, file); err != nil {
				f.add("%s (%v)", file.Name, err)
			}
		}
	}
	return err
}

func (p *Project) program(ctx context.Context, want protocol.FileInfo) error {
	switch is, err := p.Download.Sum(ctx, want.Name); {
	case err != nil:
		return plain(err)
	case is.NBytes != want.NBytes || is.MD5 != want.MD5:
		return errors.New("its content has changed")
	}
	content, err := p.Download.Open(ctx, want.Name)
	if err != nil {
		return plain(err)
	}
	defer content.Close()
	if err := p.CodeSign.Verify(content, want.Signature); err != nil {
		return errors.New("it is not signed with this key")
	}
	return nil
}

// each calls look with batches of a queue, and then reports the missing files of IDs that are still
// in it: a server may have finished with them meanwhile.
func (p *Project) each(ctx context.Context, queue store.Queue, f *found, look func(tx *store.View, ids []int64) (func(id int64) []string, error)) error {
	for after := int64(0); ; {
		var ids []int64
		var missing func(id int64) []string
		err := p.Store.View(ctx, func(tx *store.View) (err error) {
			if ids, err = tx.Waiting(queue, after, batch); err != nil {
				return err
			}
			missing, err = look(tx, ids)
			return err
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		last, lacking := ids[len(ids)-1], make(map[int64][]string)
		for _, id := range ids {
			if files := missing(id); len(files) > 0 {
				lacking[id] = files
			}
		}
		if len(lacking) > 0 { // one question for all: it may read the whole table
			if ids, err = store.Read(ctx, p.Store, func(tx *store.View) ([]int64, error) { return tx.Waiting(queue, after, batch) }); err != nil {
				return err
			}
		}
		for _, id := range ids {
			for _, file := range lacking[id] {
				f.add("%s", file)
			}
		}
		after = last
	}
}

// inputs looks at the input files of workunits that computers are to get, or have.
func (p *Project) inputs(ctx context.Context, f *found) error {
	f.Rule = "the input files of unfinished workunits exist"
	f.Mend = "restore the file with starling-server file stage DIR FILE --name NAME, or cancel the workunit with starling-server work cancel"
	seen := make(map[string]bool) // files that are there
	return p.each(ctx, store.NeedInputs, f, func(tx *store.View, ids []int64) (func(int64) []string, error) {
		wus, err := tx.Workunits(ids)
		return func(id int64) (missing []string) {
			e, err := protocol.ParseElements([]byte(wus[id].XMLDoc))
			if err != nil {
				return []string{fmt.Sprintf("%s (%v)", wus[id].Name, err)}
			}
			for _, file := range e.Files {
				if file.GeneratedLocally || len(file.DownloadURLs) > 0 {
					continue
				}
				sizes := []int64{file.NBytes, file.GzippedNBytes}
				for k, name := range blob.Names(file) {
					if seen[name] {
						continue
					}
					if err := there(ctx, p.Download, name, sizes[k]); err != nil {
						missing = append(missing, fmt.Sprintf("%s of %s (%v)", name, wus[id].Name, err))
						continue
					}
					seen[name] = true
				}
			}
			return missing
		}, err
	})
}

// outcomes looks at canonical outputs that the project has not taken yet.
func (p *Project) outcomes(ctx context.Context, f *found) error {
	f.Rule = "the output files of a canonical result exist until they are assimilated"
	f.Mend = "restore the file in upload/ from a backup; the assimilator tries again within six hours, or at once after starling-server app retry DIR APP"
	return p.each(ctx, store.CanonicalToTake, f, func(tx *store.View, ids []int64) (func(int64) []string, error) {
		jobs, err := tx.Jobs(ids)
		return func(id int64) (missing []string) {
			for _, r := range jobs[id].Results {
				if r.ID != jobs[id].Workunit.CanonicalResultID {
					continue
				}
				refs, err := hook.Outputs(r)
				if err != nil {
					return []string{err.Error()}
				}
				for _, ref := range refs {
					if _, err := p.Upload.Size(ctx, ref.FileName); err != nil && !ref.Optional {
						missing = append(missing, fmt.Sprintf("%s (%v)", ref.FileName, plain(err)))
					}
				}
			}
			return missing // without a result: the store reports it
		}, err
	})
}

// there returns the reason why a file of nbytes is missing, or nil.
func there(ctx context.Context, tree blob.Reader, name string, nbytes int64) error {
	switch n, err := tree.Size(ctx, name); {
	case err != nil:
		return plain(err)
	case n != nbytes:
		return fmt.Errorf("%d bytes, want %d", n, nbytes)
	}
	return nil
}

// plain leaves out where a missing file is not.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("missing")
	}
	return err
}
