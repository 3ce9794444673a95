package db

import (
	"errors"
	"slices"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
)

var holdAccount = Holding("account")

// payment returns changes that add 1 to the balance of an account, on the condition that it is 0.
func payment(t *testing.T, account int64) *Changes {
	t.Helper()
	c := Collect()
	if err := errors.Join(c.Run(holdAccount, account), c.ExecOne(payIf, account, 1, 1, 0)); err != nil {
		t.Fatal(err)
	}
	return c
}

// Collected changes are made, or none of one caller's if one cannot be made.
func TestApply(t *testing.T) {
	for name, where := range map[string]string{"SQLite": "", "PostgreSQL": testpg.Start(t).Database(t)} {
		t.Run(name, func(t *testing.T) {
			d := open(t, where)
			for _, name := range []string{"a", "b", "c"} {
				add(t, d, name)
			}
			added := payment(t, 3)
			if err := added.Run(addAccount, "d"); err != nil {
				t.Fatal(err)
			}
			all := payment(t, 2)
			if err := all.Run(Change("UPDATE account SET seen = seen + $1"), 5); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				name string
				c    *Changes
				want error
			}{
				{"a change", payment(t, 1), nil},
				{"a row is not as expected", payment(t, 1), ErrLost},
				{"a row is missing", payment(t, 77), ErrLost},
				{"an addition", added, nil},
				{"a change of any rows", all, nil},
				{"nothing", Collect(), nil},
			} {
				if err := d.Apply(t.Context(), tt.c); !errors.Is(err, tt.want) {
					t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
				}
			}
			got := make(map[int64]account)
			if err := d.View(t.Context(), func(v *View) error {
				list, err := All(v, accountColumns.Scan, "SELECT id, balance, seen FROM account")
				for _, a := range list {
					got[a.ID] = a
				}
				return err
			}); err != nil || len(got) != 4 {
				t.Fatalf("%v, %v", got, err)
			}
			for id := range int64(3) {
				if a := got[id+1]; a.Balance != 1 || a.Seen != 6 {
					t.Errorf("account %d: %+v", id+1, a)
				}
			}
		})
	}
}

// On PostgreSQL, callers that wait share a transaction unless they change the same row. The outcome of one does not
// affect the others.
func TestAppliedChangesShareATransaction(t *testing.T) {
	b := newBank(t, 20)
	var waiting []*applying
	wait := func(c *Changes) {
		waiting = append(waiting, &applying{c.q.(*collected).list, make(chan error, 1)})
	}
	for i, account := range b.accounts {
		if i == 3 || i == 11 {
			account = 1 << 40 // which is not there
		}
		c := payment(t, account)
		if i == 7 {
			if err := c.Run(Change("UPDATE account SET seen = 2 WHERE seen = $1"), 1); err != nil { // any row
				t.Fatal(err)
			}
		}
		wait(c)
	}
	wait(payment(t, b.accounts[0])) // again
	a := applier{p: b.d.engine.(*postgres), waiting: slices.Clone(waiting)}
	var sizes []int
	for list := a.take(); len(list) > 0; list = a.take() {
		sizes = append(sizes, len(list))
		a.share(list)
	}
	if want := []int{18, 1, 2}; !slices.Equal(sizes, want) {
		t.Errorf("transactions of %v callers, want %v", sizes, want)
	}
	for i, x := range waiting {
		err := <-x.done
		var want error
		if i == 3 || i == 11 || i == 20 {
			want = ErrLost
		}
		if !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", i, err, want)
		}
		if i < 20 && b.account(i).Balance == 1 != (want == nil) {
			t.Errorf("account %d: %+v", i, b.account(i))
		}
	}
}
