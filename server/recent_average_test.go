package server_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/workgen"
)

// A volunteer who left in spring has a recent average of 0 in autumn.
func TestTheRecentAverageDecaysWhenItIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.setUp()
		w.create(workgen.Params{Name: "wu", RscFpopsEst: 4.32e14}, "hello")
		key, err := operate.AddUser(t.Context(), w.p, "a@example.org", "", "secret7", w.now())
		w.must(err)
		c := &client{w: w, key: key, name: "a"}
		c.compute(c.fetch())
		before := c.rpc(0)
		time.Sleep(14 * 24 * time.Hour)
		after := c.rpc(0)
		for _, x := range []struct {
			of            string
			before, after float64
		}{
			{"user", before.User.ExpavgCredit, after.User.ExpavgCredit},
			{"host", before.Host.ExpavgCredit, after.Host.ExpavgCredit},
		} {
			if x.before < 90 || math.Abs(x.after-x.before/4) > 0.01 {
				t.Errorf("%s: %v, two weeks later %v", x.of, x.before, x.after)
			}
		}
		if got := after.User.TotalCredit; math.Abs(got-1000) > 1e-3 {
			t.Errorf("the total is %v", got)
		}
		login := w.do("POST", master+"login", strings.NewReader("email=a@example.org&password=secret7"),
			"Content-Type", "application/x-www-form-urlencoded")
		_ = login.Body.Close()
		cookie, _, _ := strings.Cut(login.Header.Get("Set-Cookie"), ";")
		_, page := w.get("account", "Cookie", cookie)
		if want := fmt.Sprintf("%.2f a day", after.User.ExpavgCredit); !strings.Contains(page, want) {
			t.Errorf("no %q on the account's page: %s", want, page)
		}
	})
}
