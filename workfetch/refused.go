package workfetch

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// mostRefused is the maximum number of reasons in a sentence about a project.
const mostRefused = 3

// refused returns sentences for the first few reasons for which a project sent no work, without
// repetition, and the remedy for the first of them.
func refused(all []reason.Reason, now time.Time) (text, cure words.Text) {
	var list []words.Text
	for _, r := range all {
		r = r.Or(reason.NotSent)
		s := r.Text(now)
		if len(list) == mostRefused || slices.ContainsFunc(list, func(x words.Text) bool { return x.String() == s.String() }) {
			continue
		}
		if list = append(list, s); !cure.Is() {
			cure = r.Cure("")
		}
	}
	return words.And(list...), cure
}

// needs returns the least amount of a resource that refused tasks need, by the code of the refusal.
// It returns 0 if no task was refused for that reason.
func needs(all []reason.Reason, code reason.Code) (least int64) {
	for _, r := range all {
		if n := int64(min(r.Need, 1<<62)); r.Code == code && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}
