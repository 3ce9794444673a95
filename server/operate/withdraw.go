package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// A VersionSpec names versions of an application.
type VersionSpec struct {
	App       string
	Number    string  // "1.00"
	Platform  string  // "" all
	PlanClass *string // nil: all
	DryRun    bool    // only report the expected outcome
}

// find returns the versions that a spec names, or an error that names the missing ones.
func (s *VersionSpec) find(tx *store.View) ([]store.AppVersion, error) {
	number, err := parseNumber(s.Number)
	if err != nil {
		return nil, err
	}
	app, err := tx.AppByName(s.App)
	if err != nil {
		return nil, err
	}
	all, err := tx.AllAppVersions()
	if err != nil {
		return nil, err
	}
	var out []store.AppVersion
	for _, v := range all {
		if v.AppID == app.ID && v.VersionNum == number && (s.Platform == "" || v.Platform.Name == s.Platform) &&
			(s.PlanClass == nil || v.PlanClass == *s.PlanClass) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no such version: see version list", s.App)
	}
	return out, nil
}

// A Withdrawn version is one that Deprecate has withdrawn.
type Withdrawn struct {
	store.AppVersion
	InProgress int  // results that computers still have of it
	TakenBack  int  // results that Deprecate has ended, for others to be sent in their place
	Last       bool // no version of the application is left for the platform
}

// Deprecate ends the sending of app versions, and may be called for versions that are deprecated
// already. Results in progress may still be reported. If resend is set they are taken back instead:
// their computers are ordered to abort them, this does not count as a failure, and new results are
// made, which are sent with other versions.
func Deprecate(ctx context.Context, p *project.Project, s VersionSpec, resend bool, now time.Time) ([]Withdrawn, error) {
	var out []Withdrawn
	going := make(map[int64]bool)
	err := transact(ctx, p, s.DryRun, func(v *store.View, tx *store.Tx) error {
		list, err := s.find(v)
		if err != nil {
			return err
		}
		out = nil
		for _, v := range list {
			going[v.ID] = true
			if !v.Deprecated && !s.DryRun {
				if err := tx.DeprecateVersion(v.ID); err != nil {
					return err
				}
			}
			out = append(out, Withdrawn{AppVersion: v})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if resend && !s.DryRun {
		for i := range out {
			if out[i].TakenBack, err = takeBack(ctx, p, out[i].AppVersion, now); err != nil {
				return out, err
			}
		}
	}
	return out, p.Store.View(ctx, func(tx *store.View) error {
		uses, err := tx.VersionUses()
		if err != nil {
			return err
		}
		all, err := tx.AllAppVersions()
		for i := range out {
			w := &out[i]
			w.InProgress, w.Last = int(uses[w.ID].InProgress), true
			if resend && s.DryRun {
				w.InProgress, w.TakenBack = 0, w.InProgress
			}
			for _, v := range all {
				if v.AppID == w.AppID && v.Platform.ID == w.Platform.ID && !v.Deprecated && !going[v.ID] {
					w.Last = false
				}
			}
		}
		return err
	})
}

// takeBack ends the results in progress of a version.
func takeBack(ctx context.Context, p *project.Project, v store.AppVersion, now time.Time) (n int, err error) {
	for after := int64(0); ; {
		var ids []int64
		done := 0
		err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
			done = 0
			tx.SetCause(now, "operator", fmt.Sprintf("app version %d.%02d was withdrawn", v.VersionNum/100, v.VersionNum%100))
			if ids, err = tx.InProgressWith(v.ID, after, cancelBatch); err != nil {
				return err
			}
			results, err := tx.Results(ids)
			if err != nil {
				return err
			}
			for _, id := range ids {
				old, x := results[id], results[id]
				x.ServerState, x.Outcome, x.ReceivedTime = store.Over, store.DidntNeed, now
				switch err := tx.SaveResult(old, x); {
				case errors.Is(err, store.ErrLost): // its computer has just reported it
					continue
				case err != nil:
					return err
				}
				done++
				if err := tx.TransitionBy(old.WorkunitID, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(ids) == 0 {
			return n, err
		}
		n += done
		after = ids[len(ids)-1]
	}
}

// A Removed version is one that RemoveVersion has removed.
type Removed struct {
	store.AppVersion
	Files []string // that were deleted
	Kept  bool     // the number is not free, as computers may have files of the version
}

// RemoveVersion deletes the files of deprecated versions, except files that other versions or unfinished
// workunits have too, and the records of the versions. It refuses the whole request if one of them may still be
// sent, or if computers have results of it in progress: they may be fetching its files.
func RemoveVersion(ctx context.Context, p *project.Project, s VersionSpec) ([]Removed, error) {
	var out []Removed
	err := transact(ctx, p, s.DryRun, func(view *store.View, tx *store.Tx) error {
		out = nil
		switch held, err := view.DeletionHeld(time.Now()); {
		case err != nil:
			return err
		case held:
			return errors.New("a backup is being made, and nothing is deleted meanwhile: try again later")
		}
		list, err := s.find(view)
		if err != nil {
			return err
		}
		uses, err := view.VersionUses()
		if err != nil {
			return err
		}
		gone := make(map[int64]bool)
		for _, v := range list {
			use := uses[v.ID]
			switch {
			case !v.Deprecated:
				return fmt.Errorf("%s may still be sent: withdraw it first with version deprecate", VersionName(s.App, v))
			case use.InProgress > 0:
				return fmt.Errorf("%s has %s in progress: wait for them, or take them back with version deprecate --resend",
					VersionName(s.App, v), words.Count(int(use.InProgress), "task"))
			}
			r := Removed{AppVersion: v, Kept: use.Total+use.Hosts > 0}
			if !s.DryRun {
				if err := tx.RemoveVersion(v.ID, v.XMLDoc, r.Kept); err != nil {
					return err
				}
			}
			gone[v.ID] = true
			out = append(out, r)
		}
		all, err := view.AllAppVersions()
		if err != nil {
			return err
		}
		needed := make(map[string]bool)
		for _, v := range all {
			if gone[v.ID] {
				continue
			}
			if err := eachFile(v, func(name string) { needed[name] = true }); err != nil {
				return err
			}
		}
		for i := range out {
			err := eachFile(out[i].AppVersion, func(name string) {
				if !needed[name] {
					out[i].Files = append(out[i].Files, name)
					needed[name] = true // once is enough
				}
			})
			if err != nil {
				return err
			}
			inputs, err := view.SharedFiles(out[i].Files, nil)
			if err != nil {
				return err
			}
			// These are deleted with the last workunit that needs them.
			out[i].Files = slices.DeleteFunc(out[i].Files, func(name string) bool { return inputs[name] })
		}
		return nil
	})
	if err != nil || s.DryRun {
		return out, err
	}
	for _, r := range out {
		for _, name := range r.Files {
			if err := p.Download.Remove(ctx, name); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// eachFile calls f with the physical name of each file of a version that the project serves.
func eachFile(v store.AppVersion, f func(name string)) error {
	e, err := protocol.ParseElements([]byte(v.XMLDoc))
	if err != nil {
		return fmt.Errorf("app version %d: %w", v.ID, err)
	}
	for _, file := range e.Files {
		if len(file.DownloadURLs) == 0 {
			f(file.Name)
		}
	}
	return nil
}

// VersionName returns the name of a version of an application for people.
func VersionName(app string, v store.AppVersion) string {
	name := fmt.Sprintf("%s %d.%02d for %s", app, v.VersionNum/100, v.VersionNum%100, v.Platform.Name)
	if v.PlanClass != "" {
		name += " (" + v.PlanClass + ")"
	}
	return name
}

// StopApp ends the sending of an application's work until it is started again. It returns the
// number of results in progress, which are accepted as usual. It changes nothing if the application
// already is in the requested state.
func StopApp(ctx context.Context, p *project.Project, name string, stop bool) (use store.AppUse, err error) {
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		app, err := tx.AppByName(name)
		if err != nil {
			return err
		}
		uses, err := tx.AppUses()
		if err != nil {
			return err
		}
		use = uses[app.ID]
		now := app
		now.Deprecated = stop
		return tx.SaveApp(app, now)
	})
	return use, err
}
