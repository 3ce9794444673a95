package db

import (
	"fmt"
	"testing"
)

// TestSaving checks that an UPDATE sets only the moving columns that change, and that its
// parameters match its arguments.
func TestSaving(t *testing.T) {
	type row struct {
		ID int64 `db:"id"`
		A  int64 `db:"a"`
		B  int64 `db:"b"`
		C  int64 `db:"c"`
	}
	save := ColumnsOf[row]().Save("t", "a", "b, c", "+b, c", "h = h || ?")
	for _, tt := range []struct {
		now  row
		want string
		args []any
	}{
		{row{1, 2, 3, 4}, "UPDATE t\nSET a = $2, h = h || $3\nWHERE id = $1 AND b = +$4 AND c = $5", []any{1, 2, "x", 3, 4}},
		{row{1, 2, 3, 9}, "UPDATE t\nSET a = $2, c = $3, h = h || $4\nWHERE id = $1 AND b = +$5 AND c = $6", []any{1, 2, 9, "x", 3, 4}},
		{row{1, 7, 8, 9}, "UPDATE t\nSET a = $2, b = $3, c = $4, h = h || $5\nWHERE id = $1 AND b = +$6 AND c = $7", []any{1, 7, 8, 9, "x", 3, 4}},
	} {
		s, args := save.Of(&row{1, 2, 3, 4}, &tt.now, "x")
		if s.text != tt.want || fmt.Sprint(args) != fmt.Sprint(tt.args) {
			t.Errorf("%+v: %s with %v, want %s with %v", tt.now, s.text, args, tt.want, tt.args)
		}
	}
}
