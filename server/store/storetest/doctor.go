package storetest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// A corruption is a change by hand of a workunit with result NAME_0.
type corruption struct {
	columns  string // of the workunit
	result   string // columns of the result
	rule     string // that is violated then
	ofResult bool   // the rule is about the result
	mended   bool   // by Mend
}

const (
	nobodyLooks = "transition_time = 253402300799"
	isOver      = "server_state = 5, outcome = 1"
	isOut       = "server_state = 4, sent_time = 1, report_deadline = 1800003600"
	isFinal     = "error_mask = 16, assimilate_state = 2"
)

var corruptions = []corruption{
	{"assimilate_state = 2", isOver, "an assimilated workunit has a canonical result or was given up", false, false},
	{"canonical_resultid = 999", isOver, "a canonical result is a valid success of its workunit", false, false},
	{"", isOver + ", validate_state = 1", "a valid result belongs to a workunit with a canonical result", true, false},
	{isFinal + ", file_delete_state = 1", isOut + ", hostid = HOST", "input files are deleted only when all results are over", false, false},
	{"", isOut + ", hostid = 999", "a sent result belongs to a computer", true, false},
	{"", isOver + ", hostid = 999", "a sent result belongs to a computer", true, false},
	{"batch = 1999999999, tokenid = 1", "", "no row refers to a missing one", false, false},
	{nobodyLooks, "", "an unfinished workunit has its next check scheduled", false, true},
	{nobodyLooks, isOut + ", hostid = HOST", "a result in progress is checked within a day after its deadline", true, true},
	{"error_mask = 16, " + nobodyLooks, "", "a workunit with an outcome has no unsent results", true, true},
	{"error_mask = 16, " + nobodyLooks, isOver, "a finished workunit is assimilated when all its results are over", false, true},
	{isFinal + ", " + nobodyLooks, isOver, "the input files of an assimilated workunit are deleted", false, true},
	{isFinal + ", file_delete_state = 2, " + nobodyLooks, isOver, "the output files of an assimilated workunit are deleted", true, true},
	{"", "server_state = 1", "results are inactive only while their workunit waits for something", true, false},
	{"awaiting = 1", "", "a workunit waits only for known files, outputs or its predecessor", false, false},
	{"", isOver + ", granted_credit = 1", "credit is granted for valid results only", true, false},
}

// doctor checks that each kind of corruption is found, and that Mend mends the kinds that promise
// it.
func doctor(t *testing.T, s *store.Store, raw *sql.DB) {
	w := Fill(t, s)
	exec := func(query string) error {
		_, err := raw.ExecContext(t.Context(), query)
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	broken := func() map[string][]string {
		rows := make(map[string][]string)
		view(t, s, func(tx *store.View) error {
			wrong, err := tx.Doctor()
			for _, v := range wrong {
				if v.Mend == "" || v.Count < len(v.Rows) {
					t.Errorf("%+v", v)
				}
				rows[v.Rule] = v.Rows
			}
			return err
		})
		return rows
	}
	if wrong := broken(); len(wrong) > 0 {
		t.Fatalf("of a project without fault it says %v", wrong)
	}
	expect := func(rule, row string) {
		t.Helper()
		if now := broken()[rule]; !slices.Contains(now, row) {
			t.Errorf("%q: not so for %q, want %s", rule, now, row)
		}
	}
	for _, table := range []string{"workunit", "result"} {
		if exec(fmt.Sprintf("DROP TRIGGER %s_moves", table)) != nil {
			must(exec(fmt.Sprintf("DROP TRIGGER %s_moves ON %[1]s", table)))
		}
		expect("a trigger refuses illegal moves in each table", table)
	}
	for i, h := range corruptions {
		wu, _ := Add(t, s, w.Workunit(fmt.Sprintf("wu%d", i)), 1)
		row := wu.Name
		if h.columns != "" {
			must(exec(fmt.Sprintf("UPDATE workunit SET %s WHERE id = %d", h.columns, wu.ID)))
		}
		if h.result != "" {
			columns := strings.ReplaceAll(h.result, "HOST", fmt.Sprint(w.Host.ID))
			must(exec(fmt.Sprintf("UPDATE result SET %s WHERE workunitid = %d", columns, wu.ID)))
		}
		if h.ofResult {
			row += "_0"
		}
		expect(h.rule, row)
	}
	const sum = "a user's credit is the sum of the credit granted to results, purged ones included"
	must(exec(fmt.Sprintf(`UPDATE "user" SET total_credit = 7 WHERE id = %d`, w.User.ID)))
	expect(sum, w.User.EmailAddr)

	const finished, made = "the count of finished workunits matches the rows", "the count of results matches the rows"
	must(exec(`INSERT INTO settled_workunit (appid, canonical, given_up, assimilate_state, total) VALUES (77, 0, 0, 0, 1)`))
	expect(finished, "workunits of application 77")
	must(exec(`INSERT INTO made_result (appid, total) VALUES (77, 1)`))
	expect(made, "results of application 77")

	const bytes = "the bytes of a token are the sum of its files"
	must(exec(`INSERT INTO token (create_time, name, hash) VALUES (1, 'lab', 'x')`))
	must(exec(`INSERT INTO token_bytes (tokenid, total) VALUES (1, 7)`))
	expect(bytes, "lab")
	const time = "the computing time of a token has that of its finished results"
	wu := w.Workunit("of_lab")
	wu.Batch, wu.TokenID = 1_000_000_001, 1
	wu, _ = Add(t, s, wu, 1)
	must(exec(fmt.Sprintf("UPDATE result SET server_state = 5, outcome = 3, cpu_time = 9, elapsed_time = 9, received_time = 1800000000, file_delete_state = 1 WHERE workunitid = %d", wu.ID)))
	must(exec(`DELETE FROM token_use`))
	expect(time, "lab")

	Update(t, s, func(tx *store.Tx) error { return tx.Mend(T0) })
	left := broken()
	for _, h := range append(slices.Clone(corruptions), corruption{rule: sum, mended: true}, corruption{rule: finished, mended: true}, corruption{rule: made, mended: true}, corruption{rule: bytes, mended: true}, corruption{rule: time, mended: true}) {
		if _, still := left[h.rule]; still == h.mended {
			t.Errorf("%q: mended %v, want %v", h.rule, !still, h.mended)
		}
	}
	var kept string
	must(raw.QueryRowContext(t.Context(), "SELECT COALESCE((SELECT sql FROM legal_moves), '')").Scan(&kept))
	if kept != "" {
		t.Error("the triggers will not be made anew")
	}
}
