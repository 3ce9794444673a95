package protocol_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func TestSchedulerURLs(t *testing.T) {
	long := "http://p.example/" + strings.Repeat("x", 255-len("http://p.example/"))
	for _, tt := range []struct {
		name string
		page string
		want []string
	}{
		{"both forms, each once", `<scheduler> http://a.example/cgi </scheduler><link rel="boinc_scheduler" href="https://b.example/cgi"><scheduler>http://a.example/cgi</scheduler>`, []string{"http://a.example/cgi", "https://b.example/cgi"}},
		{"longest", "<scheduler>" + long + "</scheduler>", []string{long}},
		{"longest link", `<link rel="boinc_scheduler" href="` + long + `">`, []string{long}},
		{"too long", "<scheduler>" + long + "x</scheduler>" + `<link rel="boinc_scheduler" href="` + long + `x">`, nil},
		{"no web address", "<scheduler>file:///etc/passwd</scheduler><scheduler>http://a b/</scheduler>", nil},
		{"not closed", "<scheduler>http://a.example/cgi", nil},
		{"never closed in a page as long as may be", strings.Repeat("<scheduler>", 4<<20/len("<scheduler>")), nil},
		{"nothing", "", nil},
	} {
		got, err := protocol.SchedulerURLs([]byte(tt.page))
		if !slices.Equal(got, tt.want) || (tt.want == nil) != errors.Is(err, protocol.ErrNoScheduler) {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}
