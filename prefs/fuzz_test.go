package prefs_test

import (
	"reflect"
	"testing"

	"github.com/starling-grid/starling/prefs"
)

// FuzzParseXML parses preferences as projects, account managers and tools send them. The resulting
// values are within their ranges, so that a file of them can be read.
func FuzzParseXML(f *testing.F) {
	f.Add("<mod_time>1</mod_time><max_ncpus_pct>50</max_ncpus_pct><run_on_batteries/><venue name=\"home\"><work_buf_min_days>1</work_buf_min_days></venue>", "home", true)
	f.Add("<day_prefs><day_of_week>1</day_of_week><start_hour>8</start_hour><end_hour>30</end_hour></day_prefs>", "", false)
	f.Fuzz(func(t *testing.T, src, venue string, complete bool) {
		l, _, err := prefs.ParseXML("x", src, venue, complete)
		if err != nil {
			return
		}
		again, err := prefs.Parse("x", []byte(l.TOML()), "")
		if err != nil || len(l.Values) > 0 && !reflect.DeepEqual(again.Values, l.Values) || len(again.Days) != len(l.Days) {
			t.Errorf("%+v became %+v, %v", l, again, err)
		}
		prefs.Merge(l).XML()
	})
}
