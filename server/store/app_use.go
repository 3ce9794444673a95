package store

// An AppUse counts what an application has to do.
type AppUse struct {
	Versions   int64 `json:"versions"`   // that may be sent
	Workunits  int64 `json:"workunits"`  // all that are not purged
	Unfinished int64 `json:"unfinished"` // of these, without an outcome
	Unsent     int64 `json:"unsent"`     // results
	InProgress int64 `json:"in_progress"`
}

func (u *AppUse) add(v AppUse) {
	u.Versions += v.Versions
	u.Workunits += v.Workunits
	u.Unfinished += v.Unfinished
	u.Unsent += v.Unsent
	u.InProgress += v.InProgress
}

const (
	appWorkunits = `SELECT count(*), count(*) FILTER (WHERE canonical_resultid = 0 AND error_mask = 0), appid FROM workunit GROUP BY appid`
	appResults   = `
SELECT count(*) FILTER (WHERE server_state = 2), count(*) FILTER (WHERE server_state = 4), appid
FROM   result WHERE server_state IN (2, 4) GROUP BY appid`
	appVersionCount = `SELECT count(*), appid FROM app_version WHERE deprecated = 0 GROUP BY appid`
)

// AppUses counts what applications have to do, by their ids. It reads whole tables.
func (t *View) AppUses() (map[int64]AppUse, error) {
	uses := make(map[int64]AppUse)
	each := func(query string, fields func(u *AppUse) []any) error {
		_, err := all(t, func(r row) (struct{}, error) {
			var id int64
			var u AppUse
			if err := r.Scan(append(fields(&u), &id)...); err != nil {
				return struct{}{}, err
			}
			sum := uses[id]
			sum.add(u)
			uses[id] = sum
			return struct{}{}, nil
		}, query)
		return err
	}
	if err := each(appWorkunits, func(u *AppUse) []any { return []any{&u.Workunits, &u.Unfinished} }); err != nil {
		return nil, err
	}
	if err := each(appResults, func(u *AppUse) []any { return []any{&u.Unsent, &u.InProgress} }); err != nil {
		return nil, err
	}
	err := each(appVersionCount, func(u *AppUse) []any { return []any{&u.Versions} })
	return uses, err
}
