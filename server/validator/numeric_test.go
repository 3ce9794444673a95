package validator

import (
	"strings"
	"testing"
)

func TestNumeric(t *testing.T) {
	for _, tt := range []struct {
		name, tolerance, a, b string
		want                  bool
	}{
		{"the same text", "0", "x 1.5", "x  1.5\n", true},
		{"another way to write it", "0", "1.50 2e3 +1", "1.5;2000,1", true},
		{"within the absolute tolerance", "0.01", "1.000", "1.009", true},
		{"outside of it", "0.01", "1.000", "1.02", false},
		{"within the relative tolerance", "0,1e-3", "1000000", "1000999", true},
		{"outside of it, too", "0,1e-3", "1000000", "1002000", false},
		{"the greater of the two holds", "0.1,1e-3", "0 1000", "0.1 1000.9", true},
		{"words must be equal", "10", "yes", "no", false},
		{"a number is no word", "10", "1", "one", false},
		{"a token more", "10", "1 2", "1 2 3", false},
		{"NaN equals NaN", "0", "NaN", "nan", true},
		{"NaN equals nothing else", "10", "nan", "1", false},
		{"infinities have signs", "10", "inf -inf", "Infinity -Inf", true},
		{"and differ by them", "10,0.5", "inf", "-inf", false},
		{"no number is near infinity", "10,0.5", "1e308", "inf", false},
		{"what overflows is no number", "1e9,0.9", "1e999", "1e998", false},
		{"nothing equals nothing", "0", "", "  \n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, err := parseNumeric(tt.tolerance)
			if err != nil {
				t.Fatal(err)
			}
			text := func(s string) map[string][]string {
				return map[string][]string{"out": strings.FieldsFunc(s, separates)}
			}
			if got := n.Match(text(tt.a), text(tt.b)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if got := n.Match(text(tt.b), text(tt.a)); got != tt.want {
				t.Errorf("the other way round: got %v, want %v", got, tt.want)
			}
		})
	}
	n, _ := parseNumeric("1")
	if n.Match(map[string][]string{"a": nil}, map[string][]string{"b": nil}) {
		t.Error("files of other names match")
	}
	for s, want := range map[string]string{
		"": "not a number", "x": "not a number", "1,": "not a number", "-1": "0 or more", "nan": "0 or more",
		"inf": "0 or more", "1,1": "less than 1", "1,-0.1": "0 to less", "1,2,3": "not a number",
	} {
		if _, err := parseNumeric(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", s, err, want)
		}
	}
}
