package db

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
)

// Each form of a statement takes the same arguments.
func TestForms(t *testing.T) {
	row := []any{int64(1), "a", 2.5}
	for _, tt := range []struct {
		name      string
		statement *Statement
		one, many string
	}{
		{
			"update", Update("t", "a = $2", "b = +$3", "c = 0"),
			"UPDATE t SET a = $2 WHERE id = $1 AND b = $3 AND c = 0",
			"UPDATE t SET a = v.p2 FROM (SELECT a.*, row.at FROM unnest($1::bigint[], $2::text[], $3::double precision[]) a(p1, p2, p3) " +
				"CROSS JOIN LATERAL (SELECT t.ctid AS at FROM t t WHERE t.id = a.p1 OFFSET 0) row WHERE a.p1 BETWEEN 1 AND 9223372036854775807) v " +
				"WHERE t.ctid = v.at AND b = v.p3 AND c = 0",
		},
		{
			"insert", Insert("t", "x, y,\n\tz"),
			"INSERT INTO t (x, y, z) VALUES ($1, $2, $3)",
			"INSERT INTO t (x, y, z) SELECT * FROM unnest($1::bigint[], $2::text[], $3::double precision[]) a(p1, p2, p3)",
		},
		{
			"replace", Replace("t", "x, y, z", 2),
			"INSERT INTO t (x, y, z) VALUES ($1, $2, $3) ON CONFLICT (x, y) DO UPDATE SET z = excluded.z",
			"INSERT INTO t (x, y, z) SELECT * FROM unnest($1::bigint[], $2::text[], $3::double precision[]) a(p1, p2, p3) ON CONFLICT (x, y) DO UPDATE SET z = excluded.z",
		},
		{"any", Change("DELETE FROM t WHERE x = $1 AND y = +$2 AND z < $3"), "DELETE FROM t WHERE x = $1 AND y = $2 AND z < $3", ""},
	} {
		f := tt.statement.postgres(row)
		got := []string{strings.Join(strings.Fields(f.one), " "), strings.Join(strings.Fields(f.each), " ")}
		if want := []string{tt.one, tt.many}; !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", tt.name, got, want)
		}
	}
}

func TestParametersAreNamed(t *testing.T) {
	if got := naming("a.p", 12).Replace("$1 = +$12 AND $2 < $11 || '$x'"); got != "a.p1 = a.p12 AND a.p2 < a.p11 || '$x'" {
		t.Error(got)
	}
}

func TestAnUpdateThatReadsMustBeMarked(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was accepted")
		}
	}()
	Update("t", "a = (SELECT max(b) FROM u)")
}

// One change that is not possible undoes all others.
func TestALostChangeUndoesAll(t *testing.T) {
	for name, where := range map[string]string{"SQLite": "", "PostgreSQL": testpg.Start(t).Database(t)} {
		t.Run(name, func(t *testing.T) {
			d := open(t, where)
			for _, name := range []string{"a", "b", "c"} {
				add(t, d, name)
			}
			payAll := func(expected int64) error {
				return d.Update(t.Context(), func(tx *Tx) error {
					return tx.ExecEach(payIf, [][]any{{int64(3), 1, 1, int64(0)}, {int64(1), 1, 1, int64(0)}, {int64(2), 1, 1, expected}})
				})
			}
			for i, want := range []error{ErrLost, nil, ErrLost} {
				if err := payAll(int64(1 - i%2)); !errors.Is(err, want) {
					t.Errorf("%d: %v, want %v", i, err, want)
				}
				for id := range int64(3) {
					if err := d.View(t.Context(), func(v *View) error {
						a, err := accountOf(v, id+1)
						if paid := min(int64(i), 1); err == nil && a.Balance != paid {
							t.Errorf("%d: account %d has %d, want %d", i, a.ID, a.Balance, paid)
						}
						return err
					}); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
