// Package allowance computes the computing time that a token has used, and the charges by which tokens
// share an application. Except for All and Holds, which read, it is pure.
//
// All results of finished workunits count that were reported in the last store.TokenDays days. Once a token reaches
// its limit, new batches are refused, and waiting results are not sent until enough of the time is older than that.
// Results that computers have already are finished, so a token may use somewhat more than its limit.
package allowance

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/store"
)

// Hour has the seconds of an hour, the unit in which people give and see limits of computing time.
const Hour = 3600

// A Use is the computing time that a token has used.
type Use struct {
	Token   store.Token
	CPUTime float64   // seconds
	Until   time.Time // when the computing time falls below its limit (zero: it is below)
	Pace    float64   // run time of results divided by the predicted one, see pace
}

// Of returns the computing time that a token has used at now.
func Of(t store.Token, days []store.TokenDay, now time.Time) Use {
	u := Use{Token: t, Pace: pace(days, now)}
	counted := inWindow(days, now)
	for _, d := range counted {
		u.CPUTime += d.CPUTime
	}
	if t.MaxCPUTime == 0 {
		return u
	}
	left := u.CPUTime
	for _, d := range counted {
		if left < float64(t.MaxCPUTime) {
			break
		}
		left -= d.CPUTime
		u.Until = store.DayTime(d.Day + store.TokenDays)
	}
	return u
}

// Over reports whether the computing time has reached its limit.
func (u Use) Over() bool { return !u.Until.IsZero() }

// Held returns why the token's waiting results are not sent, or nothing.
func (u Use) Held(now time.Time) words.Text {
	if !u.Over() {
		return words.Text{}
	}
	return u.held(words.T("the token"), now)
}

func (u Use) held(token words.Text, now time.Time) words.Text {
	return words.T("{token} has used {used} CPU hours in the last {days} days, and may use {allowed}: its waiting jobs are sent again {when}",
		"token", token, "used", Hours(u.CPUTime), "days", store.TokenDays, "allowed", Hours(float64(u.Token.MaxCPUTime)), "when", words.UTC(words.When, u.Until, now))
}

// A Hold is a token with unfinished jobs whose computing time is used up, for the operator.
type Hold struct {
	Token string `json:"token"`
	Text  string `json:"text"`
	Cure  string `json:"cure"`
}

// Holds returns the tokens with unfinished jobs whose computing time is used up.
func Holds(tx *store.View, now time.Time) (all []Hold, err error) {
	uses, err := All(tx, now)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(uses)) {
		u := uses[id]
		if !u.Over() {
			continue
		}
		n, err := tx.UnfinishedOfToken(id, 0, now)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			all = append(all, Hold{u.Token.Name, u.held(words.Plain("token "+u.Token.Name), now).String(), "wait until then, or raise its limit (starling-server token set --max-cpu-hours)"})
		}
	}
	return all, nil
}

// Hours writes a computing time in hours.
func Hours(seconds float64) words.Text {
	if h := seconds / Hour; h < 100 {
		return words.Decimal(h, 2)
	}
	return words.Number(int64(math.Round(seconds / Hour)))
}

// inWindow returns the days that count at now. They are in order. Days after tomorrow are from a time when the
// server's clock was ahead. They would hold a token until they are old.
func inWindow(days []store.TokenDay, now time.Time) []store.TokenDay {
	today := store.DayOf(now)
	for len(days) > 0 && days[0].Day <= today-store.TokenDays {
		days = days[1:]
	}
	for len(days) > 0 && days[len(days)-1].Day > today+1 {
		days = days[:len(days)-1]
	}
	return days
}

// The limits on the pace, so that a few odd results do not stop or favor a token. A task that runs for a day and has
// an estimate of a second, the least that counts, has the greatest pace.
const leastPace, mostPace = 0.01, 86400

// pace returns by how much longer than estimated the results of a token ran, or 1 if that is unknown. Each
// day counts half as much as the one after it.
func pace(days []store.TokenDay, now time.Time) float64 {
	today := store.DayOf(now)
	ran, expected := 0.0, 0.0
	for _, d := range inWindow(days, now) {
		weight := math.Exp2(-float64(max(today-d.Day, 0)))
		ran, expected = ran+weight*d.ElapsedTime, expected+weight*d.ExpectedTime
	}
	if !(ran > 0 && expected > 0) {
		return 1
	}
	return min(max(ran/expected, leastPace), mostPace)
}

// Charge returns the charge to the token for work with a cost by its estimates. Tokens with waiting
// work of an application take turns by these charges.
func (u Use) Charge(cost float64) float64 {
	if u.Token.Weight > 0 {
		cost /= u.Token.Weight
	}
	if u.Pace > 0 {
		cost *= u.Pace
	}
	return cost
}

// All returns the use of each token, by its id.
func All(tx *store.View, now time.Time) (map[int64]Use, error) {
	tokens, err := tx.Tokens()
	if err != nil {
		return nil, err
	}
	days, err := tx.TokenDays(0, now)
	if err != nil {
		return nil, err
	}
	by := make(map[int64][]store.TokenDay)
	for _, d := range days {
		by[d.TokenID] = append(by[d.TokenID], d)
	}
	uses := make(map[int64]Use, len(tokens))
	for _, t := range tokens {
		uses[t.ID] = Of(t, by[t.ID], now)
	}
	return uses, nil
}
