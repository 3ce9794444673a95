package projectprefs

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol/venue"
	"pgregory.net/rapid"
)

const specific = "<project_specific>\n<colour>7</colour>\n</project_specific>\n"

// The preferences of a venue are used there, and the ones for all elsewhere.
func TestVenues(t *testing.T) {
	xml := "<resource_share>100</resource_share>\n" + specific
	xml = Set(xml, "work", Prefs{ResourceShare: 3, Apps: []int64{2, 5}, MaxTasks: 4, Without: []string{"NVIDIA", CPUs}})
	for at, want := range map[string]Prefs{
		"":     {ResourceShare: 100},
		"home": {ResourceShare: 100},
		"work": {ResourceShare: 3, Apps: []int64{2, 5}, MaxTasks: 4, Without: []string{CPUs, "NVIDIA"}},
	} {
		if got := For(xml, at); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", at, got, want)
		}
	}
	if n := strings.Count(xml, "<colour>7</colour>"); n != 2 {
		t.Errorf("the project's own preferences are there %d times: for all, and for the new venue; got %s", n, xml)
	}
	if xml = Drop(xml, "work"); Has(xml, "work") || For(xml, "work").ResourceShare != 100 {
		t.Errorf("left after work was dropped: %s", xml)
	}
}

// The form is BOINC's.
func TestAsBOINCWritesIt(t *testing.T) {
	p := For("<resource_share>\n50\n</resource_share><apps_selected>\n<app_id>3</app_id>\n<app_id>x</app_id></apps_selected><no_cuda>1</no_cuda><no_ati>0</no_ati><max_jobs>2</max_jobs>"+
		`<venue name="school"><resource_share>-5</resource_share><max_jobs>1e99</max_jobs></venue>`, "")
	if want := (Prefs{ResourceShare: 50, Apps: []int64{3}, MaxTasks: 2, Without: []string{"NVIDIA"}}); !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v, want %+v", p, want)
	}
	if !p.Wants(3) || p.Wants(4) || p.Uses("NVIDIA") || !p.Uses("ATI") || !p.Uses(CPUs) {
		t.Errorf("%+v is read wrongly", p)
	}
}

// Preferences that are set are read again, for their venue alone, and other content stays.
func TestSetIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xml := rapid.SampledFrom([]string{"", specific, "<no_cpu>1</no_cpu>" + specific, `<venue name="home"><max_jobs>1</max_jobs></venue>`, "<broken", "a<b>c</b>"}).Draw(t, "xml")
		before := map[string]Prefs{}
		for _, v := range append([]string{""}, venue.Names...) {
			before[v] = For(xml, v)
		}
		p := Prefs{
			ResourceShare: float64(rapid.IntRange(0, MaxShare).Draw(t, "share")), MaxTasks: rapid.IntRange(0, 1000).Draw(t, "tasks"),
			Without: rapid.SliceOfNDistinct(rapid.SampledFrom(Kinds()), 0, 5, rapid.ID).Draw(t, "without"),
			Apps:    rapid.SliceOfNDistinct(rapid.Int64Range(1, 9), 0, 5, rapid.ID).Draw(t, "apps"),
		}
		slices.SortFunc(p.Without, func(a, b string) int { return slices.Index(Kinds(), a) - slices.Index(Kinds(), b) })
		at := rapid.SampledFrom(append([]string{""}, venue.Names...)).Draw(t, "venue")
		out := Set(xml, at, p)
		got := For(out, at)
		if len(got.Apps) != len(p.Apps) || got.ResourceShare != p.ResourceShare || got.MaxTasks != p.MaxTasks || !slices.Equal(got.Without, p.Without) || !slices.Equal(got.Apps, p.Apps) {
			t.Fatalf("set %+v, read %+v of %s", p, got, out)
		}
		for _, v := range venue.Names {
			if v != at && (at != "" || Has(xml, v)) && !reflect.DeepEqual(For(out, v), before[v]) {
				t.Fatalf("%s changed from %+v to %+v", v, before[v], For(out, v))
			}
		}
		if strings.Contains(xml, "colour") && !strings.Contains(out, "<colour>7</colour>") {
			t.Fatalf("lost the project's own: %s", out)
		}
		if again := Set(out, at, p); again != out {
			t.Fatalf("setting the same again changes %s into %s", out, again)
		}
	})
}
