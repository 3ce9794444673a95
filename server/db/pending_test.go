package db

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Changes of one transaction are made of as few statements as their order allows.
func TestChangesAreJoined(t *testing.T) {
	statements := map[string]*Statement{
		"save":     Update("parent", "priority = $2", "priority = +$3"),
		"child":    Update("child", "priority = $2"),
		"checks":   UpdateReading("child", "priority = $2", "EXISTS (SELECT 1 FROM parent p WHERE p.id = child.parentid AND p.priority = 0)"),
		"anything": Change("UPDATE child SET priority = 0 WHERE parentid = $1"),
		"insert":   Insert("child", "parentid, name, priority"),
		"once":     InsertIfMissing("child", "parentid, name, priority"),
		"upsert":   Replace("vote", "parentid, childid, n", 2),
	}
	for _, tt := range []struct {
		name    string
		changes string // with the id of a row
		want    string // statements with their rows
	}{
		{"a daemon's batch", "child 1; save 1; child 2; save 2", "child 1 2; save 1 2"},
		{"additions between", "insert 1; save 1; insert 2; save 2", "insert 1 2; save 1 2"},
		{"ids out of order", "save 9; save 3", "save 3 9"},
		{"one row twice", "save 1; save 2; save 1; save 3", "save 1 2; save 1 3"},
		{"another change of the row between", "child 1; checks 1; child 1", "child 1; checks 1; child 1"},
		{"a change that concerns others", "save 1; anything 1; save 2", "save 1; anything 1; save 2"},
		{"a change that reads others", "save 1; checks 1; checks 2; save 2", "save 1; checks 1 2; save 2"},
		{"replacements in a row", "upsert 1; upsert 2; save 1; upsert 3", "upsert 1 2; save 1; upsert 3"},
		{"a replacement twice", "upsert 1; upsert 1", "upsert 1; upsert 1"},
		{"additions of rows that may exist", "once 1; once 1; child 1; once 2", "once 1 1; child 1; once 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w pending
			for c := range strings.SplitSeq(tt.changes, "; ") {
				var name string
				var id int64
				if _, err := fmt.Sscan(c, &name, &id); err != nil {
					t.Fatal(err)
				}
				s := statements[name]
				w.add(s, !s.adds, [][]any{{id, int64(0), int64(0)}})
			}
			var got []string
			b, list := new(pgx.Batch), w.list
			w.batch(b)
			for _, c := range list {
				var text string
				for name, s := range statements {
					if s == c.Statement {
						text = name
					}
				}
				for _, args := range c.rows {
					text += fmt.Sprint(" ", args[0])
				}
				got = append(got, text)
			}
			if text := strings.Join(got, "; "); text != tt.want || b.Len() != len(list) {
				t.Errorf("got %s in %d statements, want %s", text, b.Len(), tt.want)
			}
		})
	}
}
