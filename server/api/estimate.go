package api

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/forecast"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// dryRun returns the cost and the end of the batch that a submission would create. Nothing is made,
// stored or fetched.
func (a *API) dryRun(c *call) (any, error) {
	s, release, err := c.read(a)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := a.nameless(&s); err != nil {
		return nil, err
	}
	return a.foresee(c.Context(), c.token, &s)
}

func (a *API) foresee(ctx context.Context, token store.Token, s *wire.Submission) (e wire.Estimate, err error) {
	if err := a.check(ctx, token, s); err != nil {
		return e, err
	}
	now := time.Now()
	app, err := store.Read(ctx, a.Store, func(tx *store.View) (store.App, error) { return appByName(tx, s.App) })
	if err != nil {
		return e, err
	}
	g, err := workgen.New(a.Store, a.Download, a.Dir, app, now)
	if err != nil {
		return e, err
	}
	plan := forecast.Plan{Turn: store.Turn{AppID: app.ID, TokenID: token.ID}}
	var steps forecast.Steps[string]
	for i := range s.Workunits {
		wu := &s.Workunits[i]
		for _, before := range wu.After {
			steps.Add(before, wu.Name)
		}
		p, err := g.Params(paramsOf(s, wu))
		if err != nil {
			f := faultf(http.StatusUnprocessableEntity, "correct it", "workunit %q: %v", wu.Name, err)
			f.workunit = &i
			return e, f
		}
		e.Workunits++
		e.Results += int64(p.TargetNResults)
		e.OutputBytes += int64(p.TargetNResults) * g.Uploads()
		if own := priorityOf(s, wu); i == 0 || own < plan.Turn.OwnPriority {
			plan.Turn.OwnPriority = own
		}
		plan.Flops += float64(p.TargetNResults) * p.RscFpopsEst
		plan.Quorum = max(plan.Quorum, p.MinQuorum)
		plan.Task, plan.Memory, plan.Disk = max(plan.Task, p.RscFpopsEst), max(plan.Memory, p.RscMemoryBound), max(plan.Disk, p.RscDiskBound)
		for _, in := range wu.Inputs {
			e.InputBytes += sizeOf(in)
			if in.OutputOf != "" {
				steps.Add(in.OutputOf, wu.Name)
			}
		}
	}
	e.Flops, plan.Steps = plan.Flops, steps.Longest()
	err = a.Store.View(ctx, func(tx *store.View) error {
		q, err := forecast.Look(tx, plan, a.Rules, now)
		if err == nil {
			tell(&e, forecast.Estimate(q), now)
		}
		return err
	})
	return e, err
}

// sizeOf returns the size of an input in bytes, or 0 if it is unknown.
func sizeOf(in wire.Input) int64 {
	switch {
	case in.Text != nil:
		return int64(len(*in.Text))
	case in.Base64 != nil:
		return int64(base64.StdEncoding.DecodedLen(len(*in.Base64)))
	}
	return in.NBytes
}

// estimate returns the time when an existing batch will be done.
func (a *API) estimate(c *call, b store.APIBatch) (any, error) {
	var e wire.Estimate
	err := a.Store.View(c.Context(), func(tx *store.View) error {
		now := time.Now()
		left, err := tx.BatchLeft(b.Number())
		if err != nil {
			return err
		}
		f, err := forecast.Batch(tx, b.Number(), a.Rules, now)
		if errors.Is(err, store.ErrNotFound) { // all were purged, or none was made yet
			if !b.Made {
				return faultf(http.StatusConflict, "send it again: it is completed then", "the workunits of the batch %q were not made yet", b.Name)
			}
			f, err = forecast.Forecast{Basis: forecast.Pace}, nil
		}
		e.Workunits, e.Flops = left.Workunits, left.Flops
		tell(&e, f, now)
		return err
	})
	return e, err
}

// tell adds a forecast to an answer.
func tell(e *wire.Estimate, f forecast.Forecast, now time.Time) {
	e.Computers, e.Rate, e.Basis, e.Text, e.Wait = f.Computers, f.Rate, string(f.Basis), f.Text().String(), f.Wait.Round(time.Second).Seconds()
	if f.Known() {
		left := f.Left.Round(time.Second)
		seconds := left.Seconds()
		e.Seconds, e.End = &seconds, now.Add(left).UTC().Truncate(time.Second)
	}
}
