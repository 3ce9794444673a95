package store_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/store"
)

// Entries cannot be changed or deleted.
func TestAudit(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { audit(t, filepath.Join(t.TempDir(), "project.db")) })
	t.Run("PostgreSQL", func(t *testing.T) { audit(t, testpg.Start(t).Database(t)) })
}

func audit(t *testing.T, where string) {
	s := store.OpenFor(t, where)
	update(t, s, func(tx *store.Tx) error {
		for i, e := range []store.AuditEntry{
			{Actor: "ada", Action: "work cancel", Detail: "1"},
			{Actor: "bob", Action: "work retry", Error: strings.Repeat("x", 10_000)},
			{Actor: "ada", Action: "workshop"},
		} {
			e.CreateTime, e.Via = time.Unix(int64(100*i), 0), "command"
			if err := tx.Audit(e); err != nil {
				return err
			}
		}
		return nil
	})
	for _, tt := range []struct {
		name   string
		filter store.AuditFilter
		want   string
	}{
		{"all", store.AuditFilter{Limit: 9}, "workshop work retry work cancel"},
		{"the newest", store.AuditFilter{Limit: 1}, "workshop"},
		{"of a user", store.AuditFilter{Actor: "ada", Limit: 9}, "workshop work cancel"},
		{"of a group", store.AuditFilter{Action: "work", Limit: 9}, "work retry work cancel"},
		{"of an action", store.AuditFilter{Action: "work cancel", Limit: 9}, "work cancel"},
		{"of late", store.AuditFilter{Since: time.Unix(100, 0), Limit: 9}, "workshop work retry"},
	} {
		view(t, s, func(tx *store.View) error {
			list, err := tx.ListAudit(tt.filter)
			var got []string
			for _, e := range list {
				got = append(got, e.Action)
				if len(e.Error) > 4000 {
					t.Errorf("%d bytes of an error", len(e.Error))
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: got %v, want %s", tt.name, got, tt.want)
			}
			return err
		})
	}
	for _, query := range []string{`UPDATE audit SET actor = 'eve'`, `DELETE FROM audit WHERE id = 1`} {
		err := s.Update(t.Context(), func(tx *store.Tx) error { return store.Exec(tx, query) })
		if err == nil || !strings.Contains(err.Error(), store.ErrIllegal.Error()) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
