package store

// An AppUse counts the versions and the work of an application.
type AppUse struct {
	Versions   int64 `json:"versions"`   // that may be sent
	Workunits  int64 `json:"workunits"`  // all that are not purged
	Unfinished int64 `json:"unfinished"` // of these, without an outcome
	Unsent     int64 `json:"unsent"`     // results
	InProgress int64 `json:"in_progress"`

	CreditedEnergy CreditedEnergy `json:"credited_energy,omitzero"`
}

const appVersionCount = `SELECT appid, count(*) FROM app_version WHERE deprecated = 0 GROUP BY appid`

// AppUses returns the use of each application, by its id.
func (t *View) AppUses() (map[int64]AppUse, error) {
	uses := make(map[int64]AppUse)
	workunits, err := t.workunitCounts()
	if err != nil {
		return nil, err
	}
	for _, c := range workunits {
		u := uses[c.app]
		u.Workunits += c.n
		if !c.canonical && !c.error {
			u.Unfinished += c.n
		}
		uses[c.app] = u
	}
	results, err := t.resultCounts()
	if err != nil {
		return nil, err
	}
	for _, c := range results {
		u := uses[c.app]
		switch c.state {
		case Unsent:
			u.Unsent += c.n
		case InProgress:
			u.InProgress += c.n
		}
		uses[c.app] = u
	}
	_, err = all(t, func(r row) (struct{}, error) {
		var app, n int64
		err := r.Scan(&app, &n)
		u := uses[app]
		u.Versions = n
		uses[app] = u
		return struct{}{}, err
	}, appVersionCount)
	if err != nil {
		return nil, err
	}
	energies, err := t.CreditedEnergies()
	for app, e := range energies {
		u := uses[app]
		u.CreditedEnergy = e
		uses[app] = u
	}
	return uses, err
}
