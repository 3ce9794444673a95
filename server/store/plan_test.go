package store

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A daemon reads its queue once a second or more often, so other rows must not cost anything,
// however many there are.
func TestQueuesAreReadByTheirIndex(t *testing.T) {
	st := OpenFor(t, filepath.Join(t.TempDir(), "project.db"))
	for query, index := range map[string]string{
		dueWorkunits:            "workunit_transition",
		string(NeedValidate):    "workunit_need_validate",
		string(ToAssimilate):    "workunit_assimilate",
		string(InputsToDelete):  "workunit_file_delete",
		string(OutputsToDelete): "result_file_delete",
		string(NeedInputs):      "PRIMARY KEY",
		string(CanonicalToTake): "PRIMARY KEY",
		purgeable:               "workunit_purge",
		unsent:                  "result_unsent",
		inProgressOf:            "result_in_progress",
		msgsToHandle:            "msg_from_host_handled",
		msgsToHost:              "msg_to_host_hostid",
		resultsOfAll:            "result_workunitid",
		unsentFits:              "result_unsent",
		unsentKinds:             "result_unsent",
		unsorted:                "result_unsent",
		countUnfinished:         "workunit_batch_unfinished",
		countOfBatch:            "workunit_batch",
		raiseBatch.String():     "result_workunitid",
		expiredBatches:          "api_batch_expire",
		sendable:                "result_unsent",
		unsentSince:             "result_open",
		chained:                 "result_over_hostid",
		dropFiles.String():      "token_file_name",

		sendResultToUser.String(): "result_workunitid",
		sendResultToHost.String(): "result_workunitid",
	} {
		end := " " // and the part of the index that is read
		if query == sendable || query == unsentSince {
			end = ";" // all of it, until there is enough
		}
		if text := strings.Join(plan(t, st, query), "; ") + ";"; !strings.Contains(text, " "+index+end) {
			t.Errorf("%s\n\tplan: %s, want index %s", query, text, index)
		}
	}
}

// A list must not examine all rows, wherever those are that it wants.
func TestListsAreReadByTheirIndex(t *testing.T) {
	st := OpenFor(t, filepath.Join(t.TempDir(), "project.db"))
	failed, invalid := ClientError, Invalid
	for _, tt := range []struct {
		name, index string
		table       string
		where       *where
	}{
		{"failures of an application", "result_failed", "result", (&ResultFilter{Outcome: &failed, AppID: 1}).where()},
		{"invalid", "result_not_valid", "result", (&ResultFilter{Validate: &invalid}).where()},
		{"unsent of an account", "result_open", "result", (&ResultFilter{State: Unsent, UserID: 1}).where()},
		{"in progress", "result_open", "result", (&ResultFilter{State: InProgress}).where()},
		{"over, of a computer", "result_over_hostid", "result", (&ResultFilter{State: Over, HostID: 1, AppID: 1}).where()},
		{"in progress, of a computer", "result_in_progress", "result", (&ResultFilter{State: InProgress, HostID: 1}).where()},
		{"of a workunit", "result_workunitid", "result", (&ResultFilter{WorkunitID: 1}).where()},
		{"unfinished", "workunit_open", "workunit", (&WorkunitFilter{State: Unfinished, AppID: 1}).where()},
		{"given up", "workunit_given_up", "workunit", (&WorkunitFilter{State: GivenUp}).where()},
		{"given up for a reason", "workunit_given_up", "workunit", (&WorkunitFilter{Errors: ErrorTooManyErrors}).where()},
		{"of a batch", "workunit_batch", "workunit", (&WorkunitFilter{Batch: 1, AppID: 1}).where()},
		{"to be validated", "workunit_need_validate", "workunit", (&WorkunitFilter{State: Validating}).where()},
	} {
		rows, _ := tt.where.newest("*", tt.table, 0, 1, 9)
		floor, _ := tt.where.floor(tt.table, 1)
		for _, query := range []string{rows, floor} {
			if text := strings.Join(plan(t, st, query), "; "); !strings.Contains(text, "INDEX "+tt.index+" ") {
				t.Errorf("%s: %s\n\tplan: %s, want index %s", tt.name, query, text, tt.index)
			}
		}
	}
	for _, w := range []*where{(&WorkunitFilter{HostID: 1}).where(), (&ResultFilter{Batch: 1}).where()} {
		if w.rest.Len() == 0 {
			t.Errorf("nothing bounds the search for %+v", w.args)
		}
	}
}

// Pages and metrics ask for counts, which must not read the finished rows.
func TestCountsReadNoFinishedRows(t *testing.T) {
	st := OpenFor(t, filepath.Join(t.TempDir(), "project.db"))
	queries := []string{countWorkunits, countResults, queueCounts}
	for _, w := range waits {
		queries = append(queries, w.query)
	}
	for _, query := range queries {
		for _, step := range plan(t, st, query) {
			words := strings.Fields(step) // SCAN table USING INDEX index
			if words[0] == "SCAN" && slices.Contains([]string{"workunit", "result", "w", "r"}, words[1]) && !strings.Contains(step, " INDEX ") {
				t.Errorf("%s\n\tplan: %s", query, step)
			}
		}
	}
}

// Each scheduler counts the votes every few seconds: that must not read the rows of
// all hosts.
func TestVotesAreCountedByTheirIndex(t *testing.T) {
	st := OpenFor(t, filepath.Join(t.TempDir(), "project.db"))
	if text := strings.Join(plan(t, st, versionVotes), "; "); !strings.Contains(text, "COVERING INDEX host_app_version_vote") {
		t.Errorf("plan: %s", text)
	}
}

// plan returns the steps of SQLite's plan for a query.
func plan(t *testing.T, s *Store, query string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(query, "$"))
	for i := range args {
		args[i] = "1" // a number, or a list of ids
	}
	err := s.View(t.Context(), func(v *View) (err error) {
		steps, err = all(v, func(r row) (s string, err error) {
			var n int64
			return s, r.Scan(&n, &n, &n, &s)
		}, "EXPLAIN QUERY PLAN "+query, args...)
		return err
	})
	if err != nil {
		t.Errorf("%s: %v", query, err)
	}
	return steps
}
