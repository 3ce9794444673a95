package boincimport

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
)

// A job is a project to be taken over.
type job struct {
	account   settings.Account
	suspended bool
	taken     Taken
}

// plan decides what to take, and changes nothing.
func (m *importer) plan(only []string) (jobs []job, err error) {
	accounts, _, err := settings.LoadAccounts(m.to)
	if err != nil {
		return nil, err
	}
	attached := make(map[string]bool)
	for _, a := range accounts {
		attached[protocol.EscapeURL(a.MasterURL)] = true
	}
	var errs []error
	for i, u := range only {
		if only[i], err = protocol.CanonicalMasterURL(u); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(m.client.Projects, func(p protocol.ClientProject) bool { return p.MasterURL == only[i] }) {
			errs = append(errs, fmt.Errorf("%s: BOINC's client is not attached to it", only[i]))
		}
	}
	for _, p := range m.client.Projects {
		u := p.MasterURL
		if len(only) > 0 && !slices.Contains(only, u) {
			m.note("%s stays with BOINC, because --only does not name it", u)
			continue
		}
		key, err := m.accountKey(u)
		switch canonical, errURL := protocol.CanonicalMasterURL(u); {
		case errors.Is(err, fs.ErrNotExist):
			m.note("%s was not imported, because it has no account file; BOINC could not continue with it either", u)
			continue
		case err != nil:
			errs = append(errs, err)
		case errURL != nil || canonical != u:
			errs = append(errs, fmt.Errorf("%s: not a usable master URL", u))
		case attached[protocol.EscapeURL(u)]:
			errs = append(errs, fmt.Errorf("%s: the agent in %s is already attached to it", u, m.to))
		default:
			t, err := m.convert(p)
			errs = append(errs, err)
			jobs = append(jobs, job{
				account:   settings.Account{MasterURL: u, Authenticator: key, ResourceShare: p.ResourceShare, NoMoreWork: p.NoMoreWork},
				suspended: p.Suspended, taken: t,
			})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("nothing was imported:\n%w", err)
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s: no projects to import", m.from)
	}
	return jobs, nil
}
