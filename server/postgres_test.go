package server_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
)

// onPostgres gives all that follows in a test databases of a PostgreSQL server.
func onPostgres(tb testing.TB) *testpg.Server {
	tb.Helper()
	pg := testpg.Start(tb)
	choose(tb, func(g *ground) { g.database = pg.Database })
	return pg
}

// A project works the same way on PostgreSQL as on SQLite.
func TestPostgres(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"cancel", TestCancel},
		{"credit", TestFromWorkunitToCredit},
		{"outvoted", TestAWrongResultIsOutvoted},
		{"late", TestALateResultIsComparedAndRewarded},
		{"no output", TestSuccessWithoutOutputIsNone},
		{"time-out", TestTimeOut},
		{"shared inputs", TestSharedInputsStayForTheLast},
		{"template", TestWithoutItsTemplateAWorkunitWaits},
		{"accounts", TestAccountCalls},
		{"pages", TestPages},
		{"versions", TestVersions},
		{"adaptive replication", TestAdaptiveReplication},
		{"jobs after others", TestAPIAfter},
		{"a failed job before others", TestAPIAfterAFailure},
		{"suspicious", TestATrustedAccountDecides},
		{"trusted later", TestAnAccountIsTrustedLater},
		{"infeasible", TestNobodyCanComputeIt},
		{"revoked tokens", TestATokenIsRevokedOnce},
		{"retry", TestRetry},
		{"withdrawal", TestAVersionIsWithdrawn},
		{"ban", TestAnAccountIsBanned},
		{"deletion", TestAnAccountIsDeleted},
		{"stopped application", TestAnApplicationIsStopped},
		{"archive", TestFinishedWorkIsArchived},
		{"trickle up", TestTrickles},
		{"trickle down", TestTrickleDown},
	} {
		t.Run(test.name, test.run)
	}
}
