package state_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/state"
)

// stays has the times that do not change when this computer's clock is set, and why.
var stays = map[string]string{
	"Hosts.Measured":      "a past measurement, for requests",
	"Hosts.InstalledAt":   "the first start, for requests",
	"Hosts.LastSeen":      "package usage sets it in the same change",
	"Hosts.Prefs.Changed": "by the project's clock",
	"Hosts.Up.At":         "a future time counts as now, and the next transfer replaces it",
	"Hosts.Down.At":       "likewise",

	"Projects.AttachedAt":       "a future time counts as long past",
	"Projects.Fetch.Failure.At": "for people",
	"Projects.Messages[].Time":  "for people",
	"Projects.Removed[].At":     "for people",
	"Projects.Statistics[].Day": "a day of the history, which drops days to come",

	"Results.Result.ReportDeadline": "by the project's clock",
	"Results.Started":               "the past, and it must equal LastStart as long as no program has run",
	"Results.LastStart":             "the past: the pause that depends on it has both bounds",
	"Results.Cause.Since":           "for people",
	"Results.Cause.Until":           "a failure has none",

	"Managers.Last": "for people",
}

// Every time in the state's tables is a wait, which Shift changes, or has a reason to stay. The
// history is not in tables: nothing waits for times in it.
func TestNoWaitIsForgottenWhenTheClockIsSet(t *testing.T) {
	t.Parallel()
	const key = "u\x00k"
	const by = -12 * 365 * 24 * time.Hour
	for _, path := range allTimes() {
		db := open(t, filepath.Join(t.TempDir(), "state.db"))
		steps := strings.Split(path, ".")
		table := reflect.ValueOf(db).Elem().FieldByName(steps[0]).Addr()
		record := reflect.New(table.MethodByName("Get").Type().Out(0)).Elem()
		at := time.Now().Add(48 * time.Hour)
		set(record, steps[1:], at)
		get := func() time.Time {
			return read(table.MethodByName("Get").Call([]reflect.Value{reflect.ValueOf(key)})[0], steps[1:])
		}
		must(t, db.Update(func(tx *state.Tx) {
			table.MethodByName("Put").Call([]reflect.Value{reflect.ValueOf(tx), reflect.ValueOf(key), record})
		}))
		must(t, db.Update(func(tx *state.Tx) { db.Shift(tx, by) }))
		got, want := get(), at.Round(0).Add(by)
		switch why, exempt := stays[path]; {
		case exempt && got != at:
			t.Errorf("%s (%s) changed to %v", path, why, got)
		case !exempt && got.Equal(at):
			t.Errorf("%s stays. If something waits for it, or counts from it, let its record pass it in waits.go, else give the reason in stays", path)
		case !exempt && (!got.Equal(want) || got != got.Round(0)):
			t.Errorf("%s: got %v, want %v by the clock that was set", path, got, want)
		case read(record, steps[1:]) != at:
			t.Errorf("%s changed in other copies of the record, and would after a failed save", path)
		}
		must(t, db.Close())
	}
	for path := range stays {
		if !slices.Contains(allTimes(), path) {
			t.Errorf("there is no %s", path)
		}
	}
}

// A result in the history is identified by the time when it was received, and a dated notice has
// the time by its project.
func TestTimesThatIdentifyStay(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "state.db"))
	at := time.Now()
	must(t, db.Update(func(tx *state.Tx) {
		db.Results.Put(tx, "r", state.Result{Received: at, ReadyToReport: true})
		db.Notices.Put(tx, "n", state.Notice{Created: at, Dated: true})
	}))
	must(t, db.Update(func(tx *state.Tx) { db.Shift(tx, time.Hour) }))
	if r, _ := db.Results.Get("r"); r.Received != at {
		t.Errorf("received: got %v, want %v", r.Received, at)
	}
	if n, _ := db.Notices.Get("n"); n.Created != at {
		t.Errorf("created: got %v, want %v", n.Created, at)
	}
}

// allTimes returns the paths of all times in the tables, such as Projects.Feeds[].Next.
func allTimes() (paths []string) {
	for f := range reflect.TypeFor[state.DB]().Fields() {
		if get, is := reflect.PointerTo(f.Type).MethodByName("Get"); is && f.IsExported() {
			paths = append(paths, timesOf(get.Type.Out(0), f.Name)...)
		}
	}
	return paths
}

func timesOf(t reflect.Type, path string) (paths []string) {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return timesOf(t.Elem(), path+"[]")
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return []string{path}
		}
		for f := range t.Fields() {
			paths = append(paths, timesOf(f.Type, path+"."+f.Name)...)
		}
	case reflect.Pointer, reflect.Interface, reflect.Array, reflect.Chan, reflect.Func:
		panic("what is in " + path + "?")
	}
	return paths
}

// set sets the time with the given path in a record. Lists on the way get one element.
func set(v reflect.Value, path []string, at time.Time) {
	if len(path) == 0 {
		v.Set(reflect.ValueOf(at))
		return
	}
	name, list := strings.CutSuffix(path[0], "[]")
	f := v.FieldByName(name)
	switch {
	case !list:
		set(f, path[1:], at)
	case f.Kind() == reflect.Map:
		elem := reflect.New(f.Type().Elem()).Elem()
		set(elem, path[1:], at)
		f.Set(reflect.MakeMap(f.Type()))
		f.SetMapIndex(reflect.ValueOf("k").Convert(f.Type().Key()), elem)
	default:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		set(f.Index(0), path[1:], at)
	}
}

// read returns the time that set sets.
func read(v reflect.Value, path []string) time.Time {
	for _, step := range path {
		name, list := strings.CutSuffix(step, "[]")
		v = v.FieldByName(name)
		switch {
		case !list:
		case v.Kind() == reflect.Map:
			v = v.MapIndex(reflect.ValueOf("k").Convert(v.Type().Key()))
		default:
			v = v.Index(0)
		}
	}
	return v.Interface().(time.Time)
}
