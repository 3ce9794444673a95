package storetest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// SaveWorkunit moves a workunit from old to wu by the legal steps between them.
func SaveWorkunit(tx *store.Tx, old, wu store.Workunit) error {
	step := old
	for step.AssimilateState < wu.AssimilateState {
		next := step
		next.AssimilateState++
		if err := tx.SaveWorkunit(step, next); err != nil {
			return err
		}
		step = next
	}
	if next := step; step.FileDeleteState == store.DeleteInit && wu.FileDeleteState > store.DeleteReady {
		next.FileDeleteState = store.DeleteReady
		if err := tx.SaveWorkunit(step, next); err != nil {
			return err
		}
		step = next
	}
	return tx.SaveWorkunit(step, wu)
}

// SaveResult moves a result from old to r by the legal steps between them.
func SaveResult(tx *store.Tx, old, r store.Result) error {
	if step := old; old.FileDeleteState == store.DeleteInit && r.FileDeleteState > store.DeleteReady {
		step.FileDeleteState = store.DeleteReady
		if err := tx.SaveResult(old, step); err != nil {
			return err
		}
		old = step
	}
	return tx.SaveResult(old, r)
}

// values are the values of each state.
var values = map[string][]int64{
	"server_state": {1, 2, 4, 5}, "outcome": {0, 1, 2, 3, 4, 5, 6, 7}, "validate_state": {0, 1, 2, 3, 4, 5},
	"file_delete_state": {0, 1, 2, 3}, "assimilate_state": {0, 1, 2},
}

// A change is one UPDATE of a row that was inserted as from.
type change struct {
	table    string
	from, to map[string]int64
	legal    bool
}

// changes returns all moves of all states, and changes of the other columns that have rules.
func changes() (out []change) {
	type row = map[string]int64
	for _, r := range store.Rules {
		for _, from := range values[r.Column] {
			for _, to := range values[r.Column] {
				c := change{r.Table, row{r.Column: from}, row{r.Column: to}, from == to || slices.Contains(r.Moves[from], to)}
				// Other columns that must change at the same time.
				for _, side := range []row{c.from, c.to} {
					switch r.Table + "." + r.Column {
					case "result.server_state":
						side["outcome"] = map[int64]int64{5: 1}[side["server_state"]]
					case "result.outcome":
						side["server_state"] = 5
						if side["outcome"] == 0 {
							side["server_state"] = 4
						}
					case "workunit.file_delete_state":
						side["assimilate_state"] = 2
					}
				}
				out = append(out, c)
			}
		}
	}
	return append(
		out,
		change{"result", row{}, row{"granted_credit": 1, "validate_state": 1}, true},
		change{"result", row{}, row{"granted_credit": 1}, false},
		change{"result", row{"granted_credit": 1, "validate_state": 1}, row{"granted_credit": 2}, false},
		change{"result", row{"granted_credit": 1, "validate_state": 1}, row{"granted_credit": 0}, false},
		change{"workunit", row{}, row{"canonical_resultid": 7}, true},
		change{"workunit", row{"canonical_resultid": 7}, row{"canonical_resultid": 8}, false},
		change{"workunit", row{"canonical_resultid": 7}, row{"canonical_resultid": 0}, false},
		change{"workunit", row{"canonical_resultid": 7}, row{"error_mask": 16}, false},
		change{"workunit", row{"error_mask": 2}, row{"canonical_resultid": 7}, false},
		change{"workunit", row{}, row{"canonical_resultid": 7, "error_mask": 2}, false},
		change{"workunit", row{}, row{"error_mask": 2}, true},
		change{"workunit", row{"error_mask": 2}, row{"error_mask": 18}, true},
		change{"workunit", row{"error_mask": 18}, row{"error_mask": 2}, false},
		change{"workunit", row{"error_mask": 2}, row{"error_mask": 1}, false},
		change{"workunit", row{"error_mask": 2}, row{"error_mask": 0}, false},
		// A workunit that was given up may be revived if it still has its files, and retries is
		// counted.
		change{"workunit", row{"error_mask": 2}, row{"error_mask": 0, "retries": 1}, true},
		change{"workunit", row{"error_mask": 2, "assimilate_state": 1}, row{"error_mask": 0, "retries": 1, "assimilate_state": 0}, true},
		change{"workunit", row{"error_mask": 9, "assimilate_state": 2}, row{"error_mask": 0, "retries": 1, "assimilate_state": 0}, true},
		change{"workunit", row{"error_mask": 2, "assimilate_state": 2}, row{"error_mask": 0, "retries": 1}, false},
		change{"workunit", row{"error_mask": 2, "assimilate_state": 2}, row{"assimilate_state": 0}, false},
		change{"workunit", row{"error_mask": 2, "assimilate_state": 2, "file_delete_state": 1}, row{"error_mask": 0, "retries": 1, "assimilate_state": 0, "file_delete_state": 0}, false},
		change{"workunit", row{"error_mask": 18}, row{"error_mask": 0, "retries": 1}, true},
		change{"workunit", row{"error_mask": 6}, row{"error_mask": 4, "retries": 1}, false},
		change{"workunit", row{"error_mask": 2}, row{"error_mask": 0, "retries": 2}, false},
		change{"workunit", row{"error_mask": 2}, row{"error_mask": 0, "retries": 1, "canonical_resultid": 7}, false},
		change{"workunit", row{"error_mask": 2}, row{"retries": 1}, false},
		change{"workunit", row{}, row{"retries": 1}, false},
	)
}

// moves tries every move by plain SQL, as an operator might.
func moves(t *testing.T, s *store.Store, raw *sql.DB) {
	w := Fill(t, s)
	wu, _ := Add(t, s, w.Workunit("wu"), 0)
	exec := func(query string) error {
		_, err := raw.ExecContext(t.Context(), query)
		return err
	}
	legal, illegal := 0, 0
	for i, c := range changes() {
		columns, data := []string{"name"}, []string{fmt.Sprintf("'x%d'", i)}
		add := func(column string, value any) {
			columns, data = append(columns, column), append(data, fmt.Sprint(value))
		}
		if c.table == "result" {
			for column, value := range map[string]any{
				"create_time": 1, "workunitid": wu.ID, "appid": w.App.ID, "xml_doc_in": "''", "hostid": 1, "sent_time": 1, "report_deadline": 1,
			} {
				add(column, value)
			}
			if _, ok := c.from["server_state"]; !ok {
				add("server_state", 5)
				add("outcome", 1)
			}
		} else {
			for column, value := range map[string]any{
				"create_time": 1, "appid": w.App.ID, "xml_doc": "''", "rsc_fpops_est": 1, "rsc_fpops_bound": 1, "rsc_memory_bound": 1,
				"rsc_disk_bound": 1, "transition_time": 1, "delay_bound": 1, "min_quorum": 1, "target_nresults": 1, "max_error_results": 1,
				"max_total_results": 1, "max_success_results": 1, "result_template_file": "''",
			} {
				add(column, value)
			}
		}
		for column, value := range c.from {
			add(column, value)
		}
		err := exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", c.table, strings.Join(columns, ", "), strings.Join(data, ", ")))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		var set []string
		for column, value := range c.to {
			set = append(set, fmt.Sprintf("%s = %d", column, value))
		}
		err = exec(fmt.Sprintf("UPDATE %s SET %s WHERE name = 'x%d'", c.table, strings.Join(set, ", "), i))
		switch {
		case c.legal && err != nil:
			t.Errorf("%s from %v to %v: %v", c.table, c.from, c.to, err)
		case !c.legal && (err == nil || !strings.Contains(err.Error(), "illegal move of "+c.table+".")):
			t.Errorf("%s from %v to %v: got %v, want it refused", c.table, c.from, c.to, err)
		}
		if c.legal {
			legal++
		} else {
			illegal++
		}
	}
	t.Logf("%d legal moves and %d illegal ones tried", legal, illegal)
}
