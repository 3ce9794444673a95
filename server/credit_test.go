package server_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/workgen"
)

const creditTemplate = `<input_template>
<file_info><number>0</number></file_info>
<workunit><file_ref><file_number>0</file_number><open_name>in</open_name></file_ref><credit>7</credit></workunit>
</input_template>`

func TestCreditIsWhatTheApplicationSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		policy   string
		template string
		fixed    float64       // of the workunit
		took     time.Duration // by the first host (the second takes a day)
		want     float64       // of each result
	}{
		{"by flops", "flops", "", 0, time.Hour, 100},
		{"fixed", "fixed:3", "", 0, time.Hour, 3},
		{"fixed, and the workunit says more", "fixed:3", "", 5, time.Hour, 5},
		{"the template says", "flops", creditTemplate, 5, time.Hour, 7},
		{"by run time", "runtime", "", 0, 24 * time.Hour, 200},
		{"by run time, of which one says too much", "runtime", "", 0, 48 * time.Hour, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.setUp()
				w.must(operate.SetApp(t.Context(), w.p, "upper", func(a *operate.NewApp) { a.Credit = tt.policy }, w.now()))
				if tt.template != "" {
					w.must(os.WriteFile(filepath.Join(w.dir, "templates", "upper_in"), []byte(tt.template), 0o600))
				}
				w.create(workgen.Params{Name: "wu", MinQuorum: 2, RscFpopsEst: 4.32e13, Credit: tt.fixed}, "hello")
				a := &client{w: w, key: w.user("a@example.org"), name: "a", took: tt.took}
				b := &client{w: w, key: w.user("b@example.org"), name: "b", took: 24 * time.Hour}
				first, second := a.fetch(), b.fetch()
				time.Sleep(3 * 24 * time.Hour)
				a.compute(first)
				b.compute(second)
				st := w.status() // and all sums are right
				if st.Results.Granted != 2 || math.Abs(st.Credit-2*tt.want) > 1e-3 {
					t.Errorf("%d results were granted %v, want 2 and %v", st.Results.Granted, st.Credit, 2*tt.want)
				}
				if _, info := w.outcome("wu"); math.Abs(info.Canonical.Credit-tt.want) > 1e-3 {
					t.Errorf("the outcome says %v", info.Canonical.Credit)
				}
			})
		})
	}
}
