package storetest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// World is a small project in a store.
type World struct {
	App  store.App
	User store.User
	Host store.Host
}

// Open opens the project's database in a folder, or a new one in memory for "", until the test ends.
func Open(t testing.TB, dir string) *store.Store {
	t.Helper()
	open := store.OpenMemory
	if dir != "" {
		open = func(ctx context.Context) (*store.Store, error) {
			return store.Open(ctx, filepath.Join(dir, "project.db"))
		}
	}
	st, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// Fill adds an application, a user and a host.
func Fill(t testing.TB, s *store.Store) World {
	t.Helper()
	w := World{
		App:  store.App{CreateTime: T0, Name: "upper", UserFriendlyName: "Upper", Validator: "bitwise", Assimilator: "copy"},
		User: store.User{CreateTime: T0, EmailAddr: "a@example.org", Name: "Ada", Authenticator: "00000000000000000000000000000001", CrossProjectID: "c"},
	}
	Update(t, s, func(tx *store.Tx) (err error) {
		if w.App.ID, err = tx.InsertApp(w.App); err != nil {
			return err
		}
		if w.User.ID, err = tx.InsertUser(w.User); err != nil {
			return err
		}
		w.Host = store.Host{CreateTime: T0, UserID: w.User.ID}
		w.Host.ID, err = tx.InsertHost(w.Host)
		return err
	})
	return w
}

// AddVersion stores an app version for the platform with a name, and returns its id.
func AddVersion(tx *store.Tx, platform string, v store.AppVersion) (id int64, err error) {
	if v.Platform, err = tx.EnsurePlatform(store.Platform{Name: platform}, T0); err != nil {
		return 0, err
	}
	return tx.InsertAppVersion(v)
}

// Workunit returns a workunit of the world's application, not yet stored.
func (w World) Workunit(name string) store.Workunit {
	return store.Workunit{
		CreateTime: T0, AppID: w.App.ID, Name: name, XMLDoc: "<workunit>\n</workunit>\n", RscFpopsEst: 1e9, RscFpopsBound: 1e12,
		RscMemoryBound: 1e6, RscDiskBound: 1e6, DelayBound: time.Hour, MinQuorum: 1, TargetNResults: 1,
		MaxErrorResults: 3, MaxTotalResults: 10, MaxSuccessResults: 6, ResultTemplateFile: "templates/upper_out", TransitionTime: T0,
	}
}

// InsertWorkunit adds a workunit with input files and returns its id.
func InsertWorkunit(tx *store.Tx, wu store.Workunit, files ...string) (int64, error) {
	ids, err := tx.InsertWorkunits(store.NewWorkunit{Workunit: wu, Files: files})
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// Add stores a workunit and n unsent results of it.
func Add(t *testing.T, s *store.Store, wu store.Workunit, n int, files ...string) (store.Workunit, []store.Result) {
	t.Helper()
	var results []store.Result
	Update(t, s, func(tx *store.Tx) error {
		id, err := InsertWorkunit(tx, wu, files...)
		if err != nil {
			return err
		}
		wu.ID = id
		for i := range n {
			err := tx.AddResult(store.Result{
				CreateTime: T0, WorkunitID: id, AppID: wu.AppID, Name: fmt.Sprintf("%s_%d", wu.Name, i),
				XMLDocIn: "<result>\n</result>\n", Batch: wu.Batch, Priority: wu.Priority, ServerState: store.Unsent, Kind: wu.Kind(),
			})
			if err != nil {
				return err
			}
		}
		results, err = tx.ResultsOf(id)
		return err
	})
	return wu, results
}

// Update makes a change, which must succeed.
func Update(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s *store.Store, fn func(*store.View) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// Look returns what read finds.
func Look[T any](t testing.TB, s *store.Store, read func(*store.View) (T, error)) T {
	t.Helper()
	x, err := store.Read(t.Context(), s, read)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Get returns the row with a key, or the rows.
func Get[K, T any](t testing.TB, s *store.Store, read func(*store.View, K) (T, error), key K) T {
	t.Helper()
	return Look(t, s, func(tx *store.View) (T, error) { return read(tx, key) })
}

// InsertResult adds a result and returns its id.
func InsertResult(tx *store.Tx, r store.Result) (int64, error) {
	if err := tx.AddResult(r); err != nil {
		return 0, err
	}
	x, err := tx.ResultByName(r.Name)
	return x.ID, err
}
