package validator

import (
	"context"
	"errors"
	"slices"

	"github.com/starling-grid/starling/server/store"
)

// lastWord replaces the findings about a workunit with a suspicious result: the first usable result
// of a trusted account becomes the canonical one. The others are compared with it after that, in
// the same way as results that are late. Without a result of a trusted account nothing is decided,
// whichever results agree.
func (l *look) lastWord(ctx context.Context, st *store.Store) error {
	var trusted []int64
	err := st.View(ctx, func(tx *store.View) (err error) {
		users := make([]int64, len(l.of.Results))
		for i, r := range l.of.Results {
			users[i] = r.UserID
		}
		trusted, err = tx.TrustedUsers(users)
		return err
	})
	if err != nil {
		return err
	}
	if len(trusted) == 0 && l.wu.Target.Alone() {
		return errors.New("a result is suspicious, and its workunit is for one computer or account alone, which is not trusted, so that no other result can decide")
	}
	f := &l.findings
	for i, r := range l.of.Results {
		if f.Canonical >= 0 || !slices.Contains(trusted, r.UserID) {
			continue
		}
		switch err := l.checker.Usable(ctx, r); {
		case err == nil:
			f.Canonical, f.Verdicts[i] = i, Verdict{verdict: valid}
		case errors.Is(err, ErrOutput):
			f.Verdicts[i] = Verdict{broken, err}
		default:
			f.Verdicts[i] = Verdict{retry, err}
		}
	}
	return nil
}
