package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/hostinfo"
)

func TestChooseCPUs(t *testing.T) {
	hybrid := hostinfo.Kinds{Performance: []int{0, 1}, Efficiency: []int{2, 3}}
	for _, tt := range []struct {
		setting string
		usable  []int
		kinds   hostinfo.Kinds
		want    []int
		why     string
	}{
		{"", []int{0, 1}, hybrid, nil, ""},
		{"efficiency", []int{0, 1, 2, 3}, hybrid, []int{2, 3}, ""},
		{"performance", []int{1, 2, 3}, hybrid, []int{1}, ""}, // in a container
		{"0-2", []int{0, 1, 2, 3}, hostinfo.Kinds{}, []int{0, 1, 2}, ""},
		{"efficiency", []int{0, 1}, hostinfo.Kinds{}, nil, "of one kind"},
		{"8-9", []int{0, 1, 4}, hostinfo.Kinds{}, nil, "CPUs 0-1,4 only"},
		{"0", nil, hostinfo.Kinds{}, nil, "on Linux only"},
		{"none", []int{0, 1}, hostinfo.Kinds{}, nil, ""},
	} {
		if got, why := chooseCPUs(tt.setting, tt.usable, tt.kinds); !slices.Equal(got, tt.want) || !strings.Contains(why, tt.why) || (why == "") != (tt.why == "") {
			t.Errorf("%q of %v: %v, %q", tt.setting, tt.usable, got, why)
		}
	}
}
