package pass

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/store"
)

// Troubles records for the operator which work a daemon has put off, by application. Its zero value is
// ready. It is for one goroutine.
type Troubles struct {
	told map[int64]store.Trouble // as recorded, by application
	soon time.Time               // when Soon may save again
}

// often is the minimum time between calls of Soon that save.
const often = 5 * time.Second

// Soon is Save during a pass, which may take hours and has not tried everything again that is due.
func (t *Troubles) Soon(ctx context.Context, st *store.Store, daemon string, now time.Time, offs ...*Off) error {
	if time.Now().Before(t.soon) {
		return nil
	}
	t.soon = time.Now().Add(often)
	return t.save(ctx, st, daemon, now, true, offs)
}

// Save records the work that a daemon has put off at now, if that has changed. Work that the daemon
// put off before it was started again stays recorded until some work of its application is done or
// its retry is over.
func (t *Troubles) Save(ctx context.Context, st *store.Store, daemon string, now time.Time, offs ...*Off) error {
	return t.save(ctx, st, daemon, now, false, offs)
}

func (t *Troubles) save(ctx context.Context, st *store.Store, daemon string, now time.Time, during bool, offs []*Off) error {
	daemon = st.Daemon(daemon)
	if t.told == nil {
		var err error
		if t.told, err = store.Read(ctx, st, recorded(daemon)); err != nil {
			return err
		}
	}
	changed := t.changed(daemon, now, during, offs)
	if len(changed) == 0 {
		return nil
	}
	err := st.Update(ctx, func(tx *store.Tx) error {
		present, err := recorded(daemon)(tx.View)
		if err != nil {
			return err
		}
		changed = slices.DeleteFunc(changed, func(x store.Trouble) bool { return t.asked(present[x.AppID]) })
		for _, x := range changed {
			if err := tx.SetTrouble(x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, x := range changed {
		if t.told[x.AppID] = x; x.Waiting == 0 {
			delete(t.told, x.AppID)
		}
	}
	return nil
}

// recorded returns a function that reads the troubles of a daemon, by application.
func recorded(daemon string) func(*store.View) (map[int64]store.Trouble, error) {
	return func(tx *store.View) (map[int64]store.Trouble, error) {
		list, err := tx.Troubles()
		all := make(map[int64]store.Trouble)
		for _, x := range list {
			if x.Daemon == daemon {
				all[x.AppID] = x
			}
		}
		return all, err
	}
}

// Ask makes the daemons try the work of an application again at now that they have put off. They notice it in
// their next pass.
func Ask(tx *store.Tx, app int64, now time.Time) error {
	list, err := tx.Troubles()
	for _, x := range list {
		if err == nil && x.AppID == app {
			x.Retry = x.Retry.Add(-time.Second) // earlier than its daemon recorded, also if the first of it is due
			if at := now.Truncate(time.Second).UTC(); at.Before(x.Retry) {
				x.Retry = at
			}
			err = tx.SetTrouble(x)
		}
	}
	return err
}

// asked reports whether Ask was called since a trouble was recorded.
func (t *Troubles) asked(present store.Trouble) bool {
	told, ok := t.told[present.AppID]
	return ok && present.Waiting > 0 && present.Retry.Before(told.Retry)
}

// Answer makes the work due for which Ask was called. It is for the start of a pass.
func (t *Troubles) Answer(ctx context.Context, st *store.Store, daemon string, offs ...*Off) error {
	if !slices.ContainsFunc(offs, func(o *Off) bool { return len(o.waits) > 0 }) {
		return nil
	}
	present, err := store.Read(ctx, st, recorded(st.Daemon(daemon)))
	if err != nil {
		return err
	}
	for app, x := range present {
		if t.asked(x) {
			t.told[app] = x
			for _, o := range offs {
				maps.DeleteFunc(o.waits, func(_ int64, w wait) bool { return w.app == app })
			}
		}
	}
	return nil
}

// changed returns the troubles that differ from those recorded. Nothing waits in one that is over.
func (t *Troubles) changed(daemon string, now time.Time, during bool, offs []*Off) (all []store.Trouble) {
	found, well := make(map[int64]store.Trouble), make(map[int64]bool)
	latest := make(map[int64]time.Time) // failure of each application
	for _, o := range offs {
		if !during {
			o.forget(now)
		}
		for _, w := range o.waits {
			x := found[w.app]
			x.Daemon, x.AppID, x.Waiting = daemon, w.app, x.Waiting+1
			retry := w.until
			if during && retry.Before(now) {
				retry = now
			}
			if retry = retry.Truncate(time.Second).UTC(); x.Retry.IsZero() || retry.Before(x.Retry) {
				x.Retry = retry
			}
			at := w.until.Add(-w.delay)
			if cmp.Or(at.Compare(latest[w.app]), strings.Compare(w.err, x.Error)) > 0 {
				latest[w.app], x.Error = at, w.err
			}
			found[w.app] = x
		}
		maps.Copy(well, o.well)
	}
	for app, x := range found {
		if t.told[app] != x {
			all = append(all, x)
		}
	}
	for app, x := range t.told {
		if _, ok := found[app]; !ok && (well[app] || now.Sub(x.Retry) > past) {
			all = append(all, store.Trouble{Daemon: daemon, AppID: app})
		}
	}
	return all
}

// Current returns the troubles that daemons have at now.
func Current(tx *store.View, now time.Time) ([]store.Trouble, error) {
	list, err := tx.Troubles()
	return slices.DeleteFunc(list, func(x store.Trouble) bool { return now.Sub(x.Retry) > past }), err
}

// Advise returns a sentence and a cure for each of the Current troubles.
func Advise(tx *store.View, now time.Time) (out []store.Violation, err error) {
	list, err := Current(tx, now)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	apps, err := tx.Apps()
	names := make(map[int64]string)
	for _, a := range apps {
		names[a.ID] = a.Name
	}
	for _, x := range list {
		daemon, _, _ := strings.Cut(x.Daemon, " ")
		item := "workunit"
		if daemon == "trickler" {
			item = "message"
		}
		out = append(out, store.Violation{
			Rule: "daemons can handle the work of applications", Count: int(x.Waiting), Advice: true,
			Rows: []string{fmt.Sprintf("the %s could not handle %s of %s; the last error is: %s", daemon, words.Count(int(x.Waiting), item), names[x.AppID], x.Error)},
			Mend: fmt.Sprintf("mend what the error names, and then type: starling-server app retry DIR %s (the server tries again at %s anyway)",
				names[x.AppID], words.UTC(words.Time, x.Retry, now)),
		})
	}
	return out, err
}
