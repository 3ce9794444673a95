package db

import (
	"math"
	"reflect"
	"testing"
	"time"
)

type stage struct {
	Number int     `db:"number"`
	Share  float64 `db:"share"`
}

type word string

type journey struct {
	Started time.Time     `db:"started"`
	Ended   time.Time     `db:"ended"`
	Took    time.Duration `db:"took"`
	Done    bool          `db:"done"`
	Places  []string      `db:"places"`
	Limit   float64       `db:"upper,endless"`
	Kind    word          `db:"kind"`
	Stage   stage         `db:"stage_"`
	Further stage         `db:"further_"`
}

// TestColumnsOf checks that a row has the values of all fields, and that these are read back unchanged.
func TestColumnsOf(t *testing.T) {
	columns := ColumnsOf[journey]()
	if got, want := columns.List(), "started, ended, took, done, places, upper, kind, stage_number, stage_share, further_number, further_share"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
	x := journey{time.Unix(7, 0), time.Time{}, 3 * time.Second, true, []string{"a", "b"}, math.Inf(1), "far", stage{1, 0.5}, stage{2, 0.25}}
	want := []any{int64(7), int64(0), int64(3), int64(1), "a b", math.MaxFloat64, "far", int64(1), 0.5, int64(2), 0.25}
	if got := columns.Values(&x); !reflect.DeepEqual(got, want) {
		t.Errorf("values are %v, want %v", got, want)
	}
	var again journey
	err := open(t, "").View(t.Context(), func(v *View) (err error) {
		again, err = One(v, columns.Scan, `SELECT 7, 0, 3, 1, 'a b', 1.7976931348623157e308, 'far', 1, 0.5, 2, 0.25`)
		return err
	})
	if err != nil || !reflect.DeepEqual(again, x) {
		t.Errorf("read %+v, %v, want %+v", again, err, x)
	}
}

// TestUnfitFields checks that structs with such fields are refused.
func TestUnfitFields(t *testing.T) {
	for name, columnsOf := range map[string]func(){
		"a field without a tag": func() { ColumnsOf[struct{ Name string }]() },
		"two fields of one column": func() {
			ColumnsOf[struct {
				A, B string `db:"name"`
			}]()
		},
		"a field of a strange type": func() {
			ColumnsOf[struct {
				Names map[string]int `db:"names"`
			}]()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			columnsOf()
		}()
	}
}
