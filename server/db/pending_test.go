package db

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Changes of one transaction are made of as few statements as their order allows.
func TestChangesAreJoined(t *testing.T) {
	const (
		save     = `UPDATE parent SET priority = $2 WHERE id = $1 AND priority = +$3`
		child    = `UPDATE child SET priority = $2 WHERE id = $1`
		checks   = `UPDATE child SET priority = $2 WHERE id = $1 AND EXISTS (SELECT 1 FROM parent p WHERE p.id = child.parentid AND p.priority = 0)`
		anything = `UPDATE child SET priority = 0 WHERE parentid = $1`
		insert   = `INSERT INTO child (parentid, name) VALUES ($1, $2)`
		upsert   = `INSERT INTO vote (parentid, childid, n) VALUES ($1, $2, $3) ON CONFLICT (parentid, childid) DO UPDATE SET n = excluded.n`
	)
	names := map[string]string{save: "save", child: "child", checks: "checks", anything: "anything", insert: "insert", upsert: "upsert"}
	for _, tt := range []struct {
		name    string
		changes []string // with the id of a row
		want    string   // statements with their rows
	}{
		{"a daemon's batch", []string{child + " 1", save + " 1", child + " 2", save + " 2"}, "child 1 2; save 1 2"},
		{"additions between", []string{insert + " 1", save + " 1", insert + " 2", save + " 2"}, "insert 1 2; save 1 2"},
		{"ids out of order", []string{save + " 9", save + " 3"}, "save 3 9"},
		{"one row twice", []string{save + " 1", save + " 2", save + " 1", save + " 3"}, "save 1 2; save 1 3"},
		{"another change of the row between", []string{child + " 1", checks + " 1", child + " 1"}, "child 1; checks 1; child 1"},
		{"a change that concerns others", []string{save + " 1", anything + " 1", save + " 2"}, "save 1; anything 1; save 2"},
		{"a change that reads others", []string{save + " 1", checks + " 1", checks + " 2", save + " 2"}, "save 1; checks 1 2; save 2"},
		{"replacements in a row", []string{upsert + " 1", upsert + " 2", save + " 1", upsert + " 3"}, "upsert 1 2; save 1; upsert 3"},
		{"a replacement twice", []string{upsert + " 1", upsert + " 1"}, "upsert 1; upsert 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w pending
			p := new(postgres)
			for _, c := range tt.changes {
				i := strings.LastIndexByte(c, ' ')
				var id int64
				if _, err := fmt.Sscan(c[i:], &id); err != nil {
					t.Fatal(err)
				}
				w.add(p, c[:i], strings.HasPrefix(c, "UPDATE"), [][]any{{id, int64(0), int64(0)}})
			}
			var got []string
			b, list := new(pgx.Batch), w.list
			w.batch(p, b)
			for _, c := range list {
				s := names[c.query]
				for _, args := range c.rows {
					s += fmt.Sprint(" ", args[0])
				}
				got = append(got, s)
			}
			if text := strings.Join(got, "; "); text != tt.want || b.Len() != len(list) {
				t.Errorf("got %s in %d statements, want %s", text, b.Len(), tt.want)
			}
		})
	}
}
