// Package boincexport writes what BOINC's client needs to work for the same
// accounts: the way back from package boincimport. Tasks and files stay with the
// agent, which is only read.
package boincexport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/owner"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/state"
)

// A Report lists the written files.
type Report struct {
	Projects []string `json:"projects"` // master URLs
	Files    []string `json:"files"`    // names in the folder
	Notes    []string `json:"notes,omitempty"`
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// A file is one to be written, with the name that it has in BOINC's folder.
type file struct{ name, text string }

// Export writes the accounts, preferences and settings of the agent in dataDir, which must
// not run, into the data directory to of BOINC's client, which must not run
// either. The folder is made if it is not there. Nothing is written when an account
// of the same project is there already.
func Export(ctx context.Context, dataDir, to string) (r Report, err error) {
	accounts, _, err := settings.LoadAccounts(dataDir)
	if err != nil {
		return r, err
	}
	if len(accounts) == 0 {
		return r, fmt.Errorf("%s: no projects are attached, so there is nothing to export", dataDir)
	}
	db, err := state.OpenReadOnly(filepath.Join(dataDir, "state.db"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		db = new(state.DB) // no agent has run here yet
	case errors.Is(err, state.ErrInUse):
		return r, fmt.Errorf("an agent is running in %s; stop it first, otherwise it and BOINC's client would both use the same accounts", dataDir)
	case err != nil:
		return r, err
	}
	defer db.Close()
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // as BOINC's own
		return r, err
	}
	door, err := foreigndir.Enter(ctx, to) // BOINC's applications may have put links there
	if err != nil {
		return r, err
	}
	defer door.Close()
	release, err := boincimport.Hold(ctx, to)
	if err != nil {
		return r, err
	}
	defer release()

	var files []file
	for _, acc := range accounts {
		p, _ := db.Projects.Get(acc.MasterURL)
		f := file{"account_" + protocol.EscapeURL(acc.MasterURL) + ".xml", accountFile(acc, p)}
		if _, err := os.Lstat(filepath.Join(to, f.name)); err == nil {
			return Report{}, fmt.Errorf("%s: BOINC's client already has an account of %s there (%s); nothing was exported", to, acc.MasterURL, f.name)
		}
		files = append(files, f)
		r.Projects = append(r.Projects, acc.MasterURL)
		r.explain(acc, db)
	}
	s, err := settings.Load(dataDir)
	if err != nil {
		return Report{}, err
	}
	wanted, err := preferences(dataDir, s.Venue, db)
	if err != nil {
		return Report{}, err
	}
	for _, f := range append(wanted, configuration(s, accounts)...) {
		if _, err := os.Lstat(filepath.Join(to, f.name)); err == nil {
			r.note("%s already exists and was not changed; to get what Starling has set, remove it and the account files that were just written, and export again", f.name)
			continue
		}
		files = append(files, f)
	}
	defer func() { err = errors.Join(err, owner.Inherit(to)) }()
	for _, f := range files {
		if err := door.Write(filepath.ToSlash(f.name), []byte(f.text), 0o640); err != nil {
			return r, err
		}
		r.Files = append(r.Files, f.name)
	}
	return r, nil
}

// accountFile returns an account in the format of BOINC's client.
func accountFile(acc settings.Account, p state.Project) string {
	var w bxml.Writer
	w.Open("account")
	w.Text("master_url", acc.MasterURL)
	w.Text("authenticator", string(acc.Authenticator))
	w.TextIf("project_name", p.Name)
	w.Open("project_preferences")
	if p.ProjectPrefs != "" {
		w.Raw(p.ProjectPrefs)
	} else {
		w.Float("resource_share", acc.ResourceShare)
	}
	w.Close("project_preferences")
	w.Close("account")
	return string(w.Bytes())
}

// explain notes the parts of an account that have no place in BOINC's files.
func (r *Report) explain(acc settings.Account, db *state.DB) {
	u, left := acc.MasterURL, 0
	for _, res := range db.Results.Of(u) {
		if res.Computing() || !res.ReadyToReport {
			left++
		}
	}
	if left > 0 {
		r.note("%s: %s unfinished and will stay with Starling; to lose no work, let Starling finish and report first (starling nomorework %s), then export again", u, areLeft(left), u)
	}
	if p, ok := db.Projects.Get(u); ok && p.ProjectPrefs != "" {
		r.note("%s: BOINC will use the resource share from the project's web site; Starling's was %v", u, words.Float(acc.ResourceShare))
	}
	if acc.Suspended {
		r.note("%s is suspended in Starling; to do the same in BOINC: boinccmd --project %s suspend", u, u)
	}
	if acc.NoMoreWork {
		r.note("%s fetches no more work in Starling; to do the same in BOINC: boinccmd --project %s nomorework", u, u)
	}
	if acc.Manager != nil {
		r.note("%s was attached by the account manager %s; join it in BOINC as well", u, acc.Manager.URL)
	}
}

func areLeft(n int) string {
	if n == 1 {
		return "1 task is"
	}
	return fmt.Sprintf("%d tasks are", n)
}

// preferences returns people's computing preferences, from this computer and from a project's web
// site.
func preferences(dataDir, venue string, db *state.DB) (files []file, err error) {
	all := prefs.Layer{Values: make(map[string]float64), Days: make(map[time.Weekday]prefs.Day)}
	for _, name := range []string{settings.PrefsFile, settings.PrefsOverrideFile} {
		path := filepath.Join(dataDir, name)
		src, err := foreigndir.ReadFile(path, settings.MaxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		l, err := prefs.Parse(path, src, venue)
		if err != nil {
			return nil, err
		}
		maps.Copy(all.Values, l.Values)
		maps.Copy(all.Days, l.Days)
	}
	block := func(text string) string {
		var w bxml.Writer
		w.Block("global_preferences", text)
		return string(w.Bytes())
	}
	if h, _ := db.Hosts.Get(state.Self); h.Prefs.XML != "" {
		files = append(files, file{"global_prefs.xml", block(h.Prefs.XML)})
	}
	if text := all.XML(); text != "" {
		files = append(files, file{"global_prefs_override.xml", block(text)})
	}
	return files, nil
}
