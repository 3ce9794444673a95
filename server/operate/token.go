package operate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// gigabyte is the unit in which operators limit the bytes of a token, as it is written for people.
const gigabyte = 1 << 30

// TokenLimits are the limits of a token as an operator gives them, 0 for none, and its weight.
type TokenLimits struct {
	Quota       int     // unfinished workunits
	MaxGB       float64 // of its files that the project stores
	MaxCPUHours float64 // in store.TokenDays days
	Weight      float64 // part of the computing time of an application, relative to other tokens
}

// Check returns an error for limits that are impossible.
func (l TokenLimits) Check() error {
	switch {
	case l.Quota < 0:
		return fmt.Errorf("--quota is %d, want 0 (no limit) or more", l.Quota)
	case !(l.MaxGB >= 0 && l.MaxGB <= 1e9):
		return fmt.Errorf("--max-gb is %v, want 0 (no limit) or more, at most 1e9", words.Float(l.MaxGB))
	case l.MaxCPUHours != 0 && !(l.MaxCPUHours >= 0.01 && l.MaxCPUHours <= 1e12):
		return fmt.Errorf("--max-cpu-hours is %v, want 0 (no limit), or a number from 0.01 to 1e12", words.Float(l.MaxCPUHours))
	case !(l.Weight >= 1e-6 && l.Weight <= 1e6):
		return fmt.Errorf("--weight is %v, want a number from 1e-6 to 1e6; 1 is that of other tokens", words.Float(l.Weight))
	}
	return nil
}

// Apply gives a token the limits.
func (l TokenLimits) Apply(t *store.Token) {
	t.Quota, t.Weight = l.Quota, l.Weight
	t.MaxBytes, t.MaxCPUTime = whole(l.MaxGB*gigabyte), whole(l.MaxCPUHours*allowance.Hour)
}

// whole rounds a limit. One that is not 0 stays one, however small it is.
func whole(x float64) int64 {
	n := int64(math.Round(x))
	if x > 0 {
		n = max(n, 1)
	}
	return n
}

// LimitsOf returns the limits of a token.
func LimitsOf(t store.Token) TokenLimits {
	return TokenLimits{t.Quota, float64(t.MaxBytes) / gigabyte, float64(t.MaxCPUTime) / allowance.Hour, t.Weight}
}

// SetToken changes the limits of a token that was not revoked. A running server applies them.
func SetToken(ctx context.Context, p *project.Project, name string, change func(*TokenLimits)) error {
	return changeToken(ctx, p, name, func(t *store.Token) error {
		limits := LimitsOf(*t)
		change(&limits)
		if err := limits.Check(); err != nil {
			return err
		}
		limits.Apply(t)
		return nil
	})
}

// RevokeToken ends a token and frees its name.
func RevokeToken(ctx context.Context, p *project.Project, name string, now time.Time) error {
	return changeToken(ctx, p, name, func(t *store.Token) error {
		t.Name, t.RevokedTime = fmt.Sprintf("%s (revoked %d)", t.Name, t.ID), now
		return nil
	})
}

// changeToken changes a token that was not revoked.
func changeToken(ctx context.Context, p *project.Project, name string, change func(*store.Token) error) error {
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		old, err := tx.TokenByName(name)
		if err != nil {
			return err
		}
		t := old
		if err := change(&t); err != nil {
			return err
		}
		return tx.SaveToken(old, t)
	})
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrLost) { // lost: it was revoked meanwhile
		return fmt.Errorf("there is no token called %q: starling-server token list DIR shows them", name)
	}
	return err
}
