package validator

import "testing"

func TestCheckSet(t *testing.T) {
	for _, tt := range []struct {
		name    string
		outputs string // one letter per result, '-' for one that cannot be read
		quorum  int
		want    string // v valid, i invalid, ? undecided, - as before
		index   int
	}{
		{"one alone is canonical", "a", 1, "v", 0},
		{"two agree", "aa", 2, "vv", 0},
		{"two differ", "ab", 2, "??", -1},
		{"a third decides", "aba", 2, "viv", 0},
		{"the first of the majority is canonical", "baa", 2, "ivv", 1},
		{"a quorum of four needs three", "aabb", 4, "????", -1},
		{"three of four", "abaa", 4, "vivv", 0},
		{"too few to decide", "aa", 3, "??", -1},
		{"what cannot be read does not count", "a-a", 2, "v-v", 0},
		{"what cannot be read leaves too few", "a-", 2, "?-", -1},
		{"nothing", "", 1, "", -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var samples []sample
			for _, c := range tt.outputs {
				s := sample{output: c}
				if c == '-' {
					s.verdict = broken
				}
				samples = append(samples, s)
			}
			index := checkSet(samples, tt.quorum, func(a, b any) bool { return a == b })
			got := ""
			for _, s := range samples {
				got += map[verdict]string{valid: "v", invalid: "i", undecided: "?", broken: "-"}[s.verdict]
			}
			if got != tt.want || index != tt.index {
				t.Errorf("got %q, %d; want %q, %d", got, index, tt.want, tt.index)
			}
		})
	}
}
