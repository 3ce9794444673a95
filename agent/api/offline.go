package api

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/appinfo"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/rules"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// offline returns the facts about an agent that is not running, from its files. It returns
// state.ErrInUse if one is. The caller closes the DB.
func offline(dataDir, version string) (*view.Facts, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	f := &view.Facts{
		Now: now, Version: version, DataDir: dir,
		Host: hostinfo.Probe(dir), Disk: view.Disk{Free: -1, Used: -1},
		Accounts: make(map[string]settings.Account), Debts: make(map[string]float64),
	}
	accounts, faults := settings.ReadAccounts(dir)
	f.Accounts = accounts.InForce
	s, wrong, err := settings.InForce(dir, now)
	f.Settings, faults = s, errors.Join(faults, wrong, err)
	f.Coprocs = gpus.Join(s, gpus.Report{}) // the drivers are not asked

	f.DB, err = state.OpenReadOnly(filepath.Join(dir, core.StateFile))
	if errors.Is(err, os.ErrNotExist) {
		f.DB = new(state.DB) // no agent has run here yet
	} else if err != nil {
		return nil, err
	}
	venue := rules.Venue(f.Settings, f.Accounts, f.DB)
	f.Layers, _, err = rules.Layers(dir, venue, now)
	f.Faults = errors.Join(faults, err)
	f.Prefs, _ = rules.Merge(f.DB, f.Layers, venue) // a running agent reports the faults of a web site's
	for u, p := range f.DB.Projects.All() {
		f.Debts[u] = p.Debt
	}
	h, _ := f.DB.Hosts.Get(state.Self)
	f.Host.Fpops = h.Fpops
	f.Times = protocol.TimeStats{OnFrac: h.Times.On, ActiveFrac: h.Times.Active, ConnectedFrac: h.Times.Connected}
	f.Conditions = prefs.Conditions{Now: now.Round(0), OtherCPU: -1, Transferred: usage.TransferredMB(h, f.Prefs, now)}
	f.Last = decide.Decide(f.Snapshot())
	for i, p := range f.Last.Snapshot.Projects {
		f.Debts[p.URL] = f.Last.Plan.Projects[i].Debt
	}
	return f, nil
}

// Offline returns the status according to the files of an agent that is not running, in the language
// of ctx. It returns state.ErrInUse if one is.
func Offline(ctx context.Context, dataDir, version string) (control.Status, error) {
	f, err := offline(dataDir, version)
	if err != nil {
		return control.Status{}, err
	}
	defer f.DB.Close()
	f.Language = words.LanguageOf(ctx)
	s := f.Status()
	for u, acc := range f.Accounts {
		if _, known := f.DB.Projects.Get(u); !known {
			s.Projects = append(s.Projects, control.Project{
				MasterURL: u, Share: acc.ResourceShare, Work: words.T("The project will be contacted when the agent runs.").In(f.Language),
			})
		}
	}
	return s, nil
}

// OfflineNotices returns the notices of an agent that is not running, like the API's Notices.
func OfflineNotices(dataDir, masterURL string) (all []control.Notice, err error) {
	err = fromFile(dataDir, func(db *state.DB) error {
		f := view.Facts{Now: time.Now(), DB: db}
		all = f.Notices(masterURL)
		return nil
	})
	return all, err
}

// OfflineDecision returns the decision that an agent would make now if it were running.
func OfflineDecision(dataDir, version string) (decide.Record, error) {
	f, err := offline(dataDir, version)
	if err != nil {
		return decide.Record{}, err
	}
	defer f.DB.Close()
	for i := range f.Last.Plan.Results {
		if r := &f.Last.Plan.Results[i].Decision; r.Run() {
			*r = jobsched.Decision{Explanation: reason.Explanation{Code: reason.ComputingSuspended, Text: words.T("No agent is running. This task would run now."), Cure: words.T("Start the agent.")}}
		}
	}
	return f.Last.Record, nil
}

// OfflinePrefs returns the computing preferences of an agent that is not running.
func OfflinePrefs(dataDir, version string) (prefs.Effective, error) {
	f, err := offline(dataDir, version)
	if err != nil {
		return prefs.Effective{}, err
	}
	defer f.DB.Close()
	return f.Prefs, f.Faults
}

// Check reads all files that people may edit and returns everything that is wrong
// with them.
func Check(dataDir string) error {
	_, errSettings := settings.Load(dataDir)
	accounts, _, errAccounts := settings.LoadAccounts(dataDir)
	_, _, errPrefs := rules.Layers(dataDir, "", time.Now())
	errs := []error{errSettings, errAccounts, errPrefs}
	for _, acc := range accounts {
		_, err := appinfo.Read(filepath.Join(dataDir, core.ProjectsDir, protocol.EscapeURL(acc.MasterURL)), "")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
