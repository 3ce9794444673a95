package stats

import "github.com/starling-grid/starling/protocol/bxml"

func (e *export) writeUserBadges(f *file) error {
	for u, err := range e.s.Users(e.ctx) {
		if err != nil {
			return err
		}
		if !e.silent[u.ID] { // nor the deleted
			e.writeBadge(&f.Writer, "user", u.ID, u.TotalCredit)
		}
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) writeTeamBadges(f *file) error {
	for t, err := range e.s.Teams(e.ctx) {
		if err != nil {
			return err
		}
		e.writeBadge(&f.Writer, "team", t.ID, t.TotalCredit)
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeBadge writes the badge for an amount of credit. The time when it was earned is unknown.
func (e *export) writeBadge(w *bxml.Writer, of string, id int64, total float64) {
	b := e.can.Of(total)
	if b == nil {
		return
	}
	w.Open("badge_" + of)
	w.Int(of+"_id", id)
	w.Int("badge_id", b.Credit)
	w.Int("create_time", 0)
	w.Close("badge_" + of)
}
