package agent

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/rules"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/internal/beat"
	"github.com/starling-grid/starling/state"
)

// Run works until ctx ends, or until nothing is left to do if so configured. It
// then stops the applications, so that they may write a checkpoint, and closes
// the data directory.
func (a *Agent) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, a.shutdown()) }()

	c, now := a.core, time.Now()
	a.tellRepair()
	a.timeline.Open(now) // by when the agent was last seen, which uptime sets
	a.uptime.Open(now)
	if err := a.life.Recover(ctx, now); err != nil {
		return err
	}
	watch := settings.Watch(c.Dir)
	if err := a.rules.ReadFiles(); err != nil {
		c.Log.Error("some settings are invalid; the previous values stay in effect", "err", err)
	}
	a.rules.ReadAllOwn()
	c.Log.Info("agent started", "version", c.Version, "data", c.Dir, "cpus", c.CPUs(), "projects", len(c.Accounts))
	now = time.Now()
	a.rules.Announce(now)
	a.ledger.Open(now)
	if a.cfg.Watch {
		go watch(c.Ctx, func() { c.Post(rules.FilesChanged{}) })
	}
	if a.cfg.Sensors != nil {
		go a.presence.Sense(c.Ctx)
	}
	a.powers.Use(c.Ctx, c.Settings.Powers)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.quitting:
			return nil
		case look := <-c.Looks():
			look()
			continue
		case event := <-c.Events():
			beat.Woke(event.Event())
			a.handle(event)
			a.drain()
		case <-timer.C:
			beat.Woke("planned decisions")
		}
		now := time.Now()
		wake := a.step(now)
		if a.cfg.ExitWhenIdle && a.idle() {
			c.Log.Info("no work left")
			return nil
		}
		timer.Reset(max(0, min(wake.Sub(now), c.Tick)))
	}
}

// handle passes an event to its component.
func (a *Agent) handle(e core.Event) {
	a.uptime.Watch(time.Now())
	switch e := e.(type) {
	case core.Asked:
		e.Answer()
	case stateCopied:
		a.copied(e)
	case usage.Sensed: // the step that follows takes a look
	default:
		if !a.life.Handle(e) && !a.files.Handle(e) && !a.talk.Handle(e) && !a.rules.Handle(e) && !a.disk.Handle(e) {
			a.core.Log.Error("an event was not handled", "event", e.Event()) // tests look for it
		}
	}
}

// drain applies what else has been reported, so that a burst costs one pass.
func (a *Agent) drain() {
	for {
		select {
		case event := <-a.core.Events():
			a.handle(event)
		default:
			return
		}
	}
}

// step does all that can be done now and returns when to look again.
func (a *Agent) step(now time.Time) time.Time {
	w := core.Waker{At: now.Add(a.core.Tick)}
	a.uptime.Watch(now)
	a.rules.DetachDone()
	a.rules.GiveUp(now, &w)
	a.life.AbortDue(now, &w)
	a.disk.Measure(now, &w)
	a.life.Advance(now)
	a.files.Collect(now, &w)
	a.files.StartTransfers(now, &w)
	d := a.decide(now)
	a.life.Act(d, now)
	a.talk.Act(d, now)
	a.talk.Listen(d, now, &w)
	a.presence.Attend(a.life.Computing())
	a.ledger.Keep(now)
	a.keepState(now, &w)
	a.life.Trust(now)
	a.talk.AskNewer(now, &w)
	a.talk.FollowManager(now, &w)
	a.talk.ReadFeeds(now, &w)
	w.By(d.Plan.Again)
	if a.core.SaveAgain.After(now) {
		w.By(a.core.SaveAgain)
	}
	return w.At
}

// idle reports whether nothing is left to do: there are no results and no conversation is in
// progress. Every project has been asked for work since the agent started and had none, or is not
// to be asked.
func (a *Agent) idle() bool {
	if !a.life.Idle() || !a.talk.Idle() {
		return false
	}
	for u, p := range a.core.DB.Projects.All() {
		switch {
		case p.Ending.Leaves() || !p.Contact.Initialized:
			return false
		case a.core.Accounts[u].NoMoreWork:
		case p.Fetch.AskedAt.Before(a.core.Since) || p.Fetch.Got > 0:
			return false
		}
	}
	return true
}

// shutdown stops what runs and closes the state.
func (a *Agent) shutdown() error {
	c := a.core
	c.Log.Info("agent stopping", "running", a.life.Running())
	stopped := make(chan error, 1)
	go func() { stopped <- a.life.Exec.Stop(context.Background()) }()
	var err error
	for waiting := true; waiting; { // applications that end now are not run again
		select {
		case look := <-c.Looks():
			look()
		case event := <-c.Events():
			a.handle(event)
		case err = <-stopped:
			waiting = false
		}
	}
	a.drain()
	c.End()
	now := time.Now()
	a.uptime.Watch(now)
	a.decide(now)
	a.timeline.Close(now)
	c.Save(func(tx *state.Tx) {
		a.ledger.Put(tx)
		a.uptime.Put(tx)
	})
	if err := c.DB.Keeper()(); err != nil {
		c.Log.Warn("cannot back up the state", "err", err)
	}
	return errors.Join(err, c.DB.Close())
}
