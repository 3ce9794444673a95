package resource_test

import (
	"slices"
	"testing"

	"github.com/starling-grid/starling/resource"
)

func TestParseCPUs(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "0-3,8": {0, 1, 2, 3, 8}, "0-1,3,5-6": {0, 1, 3, 5, 6}} {
		if got, err := resource.ParseCPUs(text); err != nil || !slices.Equal(got, want) || resource.FormatCPUs(got) != text {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if got, err := resource.ParseCPUs("2, 0-1 ,1"); err != nil || !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "a", "3-1", "-1", "0-", "0,,1", "1024", "99999999999"} {
		if got, err := resource.ParseCPUs(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
