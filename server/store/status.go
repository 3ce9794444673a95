package store

import "fmt"

// A Status has counts of the whole project, by state. `starling-server status --json` prints its
// JSON form.
type Status struct {
	Done bool `json:"done"` // there is work, and every workunit's outcome has been taken

	Workunits WorkunitCounts `json:"workunits"`
	Results   ResultCounts   `json:"results"`

	// OldestAge is for how many seconds the oldest of each kind has waited: unsent,
	// transition_due, need_validate, waiting_assimilation, waiting_file_deletion.
	OldestAge map[string]int64 `json:"oldest_age"`

	Apps        int64   `json:"apps"`
	AppVersions int64   `json:"app_versions"`
	Users       int64   `json:"users"`
	Hosts       int64   `json:"hosts"`
	Credit      float64 `json:"credit"` // granted to users

	ByApp []AppCounts `json:"by_app"`
}

// AppCounts counts the results of an application that are unsent or in progress, and has the energy of
// those that got credit.
type AppCounts struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	FullName   string `json:"user_friendly_name"`
	Unsent     int64  `json:"unsent"`
	InProgress int64  `json:"in_progress"`

	CreditedEnergy CreditedEnergy `json:"credited_energy,omitzero"`
}

// WorkunitCounts counts workunits by their progress.
type WorkunitCounts struct {
	Total              int64 `json:"total"`
	Unfinished         int64 `json:"unfinished"` // no canonical result and not given up
	Canonical          int64 `json:"canonical"`
	Error              int64 `json:"error"`
	NeedValidate       int64 `json:"need_validate"`
	WaitingAssimilate  int64 `json:"waiting_assimilation"`
	Assimilated        int64 `json:"assimilated"`
	WaitingFileDelete  int64 `json:"waiting_file_deletion"`
	FilesDeleted       int64 `json:"files_deleted"`
	TransitionsPending int64 `json:"transitions_pending"` // due at the time of asking
}

// ResultCounts counts results by state. Outcomes and validate states are only of results that are
// over.
type ResultCounts struct {
	Total             int64            `json:"total"`
	ByServerState     map[string]int64 `json:"server_state"`
	ByOutcome         map[string]int64 `json:"outcome"`
	ByValidateState   map[string]int64 `json:"validate_state"`
	WaitingFileDelete int64            `json:"waiting_file_deletion"`
	Granted           int64            `json:"granted"`        // results that got credit
	ValidToday        int64            `json:"valid_last_24h"` // results that were reported in that time and are valid
}

const queueCounts = `
SELECT (SELECT count(*) FROM workunit WHERE need_validate = 1), (SELECT count(*) FROM workunit WHERE assimilate_state = 1),
       (SELECT count(*) FROM workunit WHERE file_delete_state = 1), (SELECT count(*) FROM workunit WHERE file_delete_state = 3),
       (SELECT count(*) FROM workunit WHERE transition_time < 253402300799 AND transition_time <= $1),
       (SELECT count(*) FROM result WHERE file_delete_state = 1),
       (SELECT count(*) FROM result WHERE validate_state = 1 AND received_time > $2)`

const otherCounts = `
SELECT (SELECT count(*) FROM app), (SELECT count(*) FROM app_version), (SELECT count(*) FROM "user"),
       (SELECT count(*) FROM host), (SELECT COALESCE(sum(total_credit), 0) FROM "user")`

// Status counts everything. Its cost depends on the number of accounts, of computers, and of
// workunits and results whose files are not deleted.
func (t *View) Status(now int64) (Status, error) {
	s := Status{Results: ResultCounts{
		ByServerState: zero(1, 2, 4, 5), ByOutcome: map[string]int64{}, ByValidateState: map[string]int64{},
	}}
	if err := t.countWorkunits(&s.Workunits); err != nil {
		return s, fmt.Errorf("count workunits: %w", err)
	}
	apps, err := t.Apps()
	if err != nil {
		return s, fmt.Errorf("count results: %w", err)
	}
	results, err := t.resultCounts()
	if err != nil {
		return s, fmt.Errorf("count results: %w", err)
	}
	for _, c := range results {
		s.Results.add(c)
	}
	energies, err := t.CreditedEnergies()
	if err != nil {
		return s, fmt.Errorf("sum up energy: %w", err)
	}
	for _, a := range apps {
		n := AppCounts{ID: a.ID, Name: a.Name, FullName: a.UserFriendlyName, CreditedEnergy: energies[a.ID]}
		for _, c := range results {
			switch {
			case c.app != a.ID:
			case c.state == Unsent:
				n.Unsent += c.n
			case c.state == InProgress:
				n.InProgress += c.n
			}
		}
		s.ByApp = append(s.ByApp, n)
	}
	w := &s.Workunits
	_, err = one(t, func(r row) (struct{}, error) {
		var undeleted int64
		err := r.Scan(&w.NeedValidate, &w.WaitingAssimilate, &w.WaitingFileDelete, &undeleted,
			&w.TransitionsPending, &s.Results.WaitingFileDelete, &s.Results.ValidToday)
		w.FilesDeleted += undeleted
		return struct{}{}, err
	}, queueCounts, now, now-24*60*60)
	if err != nil {
		return s, fmt.Errorf("count queues: %w", err)
	}
	_, err = one(t, func(r row) (struct{}, error) {
		return struct{}{}, r.Scan(&s.Apps, &s.AppVersions, &s.Users, &s.Hosts, &s.Credit)
	}, otherCounts)
	if err != nil {
		return s, err
	}
	s.Done = w.Total > 0 && w.Assimilated == w.Total
	s.OldestAge, err = t.ages(now)
	return s, err
}

func (t *View) countWorkunits(w *WorkunitCounts) error {
	counts, err := t.workunitCounts()
	for _, c := range counts {
		w.Total += c.n
		switch {
		case c.error:
			w.Error += c.n
		case c.canonical:
			w.Canonical += c.n
		default:
			w.Unfinished += c.n
		}
		if c.assimilate == AssimilateDone {
			w.Assimilated += c.n
		}
		if c.settled {
			w.FilesDeleted += c.n
		}
	}
	return err
}

func (s *ResultCounts) add(c resultCount) {
	s.Total += c.n
	s.ByServerState[c.state.String()] += c.n
	if c.granted {
		s.Granted += c.n
	}
	if c.state == Over {
		s.ByOutcome[c.outcome.String()] += c.n
		s.ByValidateState[c.valid.String()] += c.n
	}
}

func zero(states ...ServerState) map[string]int64 {
	m := make(map[string]int64)
	for _, s := range states {
		m[s.String()] = 0
	}
	return m
}

// A WorkunitSummary is a short description of a workunit's progress.
type WorkunitSummary struct {
	ID      int64         `json:"id"`
	Name    string        `json:"name"`
	App     string        `json:"app"`
	State   WorkunitState `json:"state"` // Unfinished, Canonical or GivenUp
	Results int64         `json:"results"`
	Credit  float64       `json:"canonical_credit"`
	Errors  []string      `json:"errors,omitempty"`
	Stored  bool          `json:"assimilated"`
}

const summaries = `
SELECT w.id, w.name, a.name, w.canonical_resultid, w.canonical_credit, w.error_mask, w.assimilate_state,
       (SELECT count(*) FROM result r WHERE r.workunitid = w.id)
FROM   workunit w JOIN app a ON a.id = w.appid
WHERE  w.id > $1 ORDER BY w.id LIMIT 0 + $2`

// Summaries returns how the workunits with ids above after stand.
func (t *View) Summaries(after int64, limit int) ([]WorkunitSummary, error) {
	return all(t, func(r row) (s WorkunitSummary, err error) {
		var w Workunit
		err = r.Scan(&s.ID, &s.Name, &s.App, &w.CanonicalResultID, &s.Credit, &w.ErrorMask, &w.AssimilateState, &s.Results)
		s.State, s.Errors, s.Stored = w.State(), w.ErrorMask.Reasons(), w.AssimilateState == AssimilateDone
		return s, err
	}, summaries, after, limit)
}
