package store

import (
	"fmt"
	"strings"
)

func sqliteTriggers() (out []string) {
	for _, g := range guards() {
		var text strings.Builder
		fmt.Fprintf(&text, "CREATE TRIGGER %s_moves AFTER UPDATE OF %s ON %[1]s WHEN %[3]s BEGIN SELECT CASE", g.table, g.columns, g.illegal)
		for _, r := range g.refusals {
			fmt.Fprintf(&text, " WHEN %s THEN RAISE(ABORT, '%s')", r.illegal, r.message)
		}
		out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_moves", g.table), text.String()+" END; END")
	}
	for _, table := range catalogTables {
		for _, what := range []string{"INSERT", "UPDATE", "DELETE"} {
			out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_%s_stamp", table, strings.ToLower(what)),
				fmt.Sprintf("CREATE TRIGGER %s_%s_stamp AFTER %s ON %[1]s BEGIN UPDATE catalog SET stamp = stamp + 1; END", table, strings.ToLower(what), what))
		}
	}
	for _, c := range countTriggers() {
		out = append(out, "DROP TRIGGER IF EXISTS "+c.name,
			fmt.Sprintf("CREATE TRIGGER %s AFTER %s ON %s WHEN %s BEGIN %s; END", c.name, c.event, c.table, c.when, c.do))
	}
	for _, table := range appended {
		for _, what := range []string{"UPDATE", "DELETE"} {
			out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_no_%s", table, strings.ToLower(what)),
				fmt.Sprintf("CREATE TRIGGER %s_no_%s BEFORE %s ON %[1]s BEGIN SELECT RAISE(ABORT, '%[4]v of a row of %[1]s'); END",
					table, strings.ToLower(what), what, ErrIllegal))
		}
	}
	return out
}

// postgresTriggers leave the whole condition to the function, which a connection compiles once. The
// condition of a trigger is parsed again for each statement, which takes longer than all the rest
// of a change.
func postgresTriggers() (out []string) {
	for _, g := range guards() {
		var body strings.Builder
		for _, r := range g.refusals {
			fmt.Fprintf(&body, "IF %s THEN RAISE EXCEPTION '%s'; END IF; ", r.illegal, r.message)
		}
		out = append(out,
			fmt.Sprintf("CREATE OR REPLACE FUNCTION %s_moves() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF %s THEN %sEND IF; RETURN NEW; END$$",
				g.table, g.illegal, body.String()),
			fmt.Sprintf("DROP TRIGGER IF EXISTS %s_moves ON %[1]s", g.table),
			fmt.Sprintf("CREATE TRIGGER %s_moves BEFORE UPDATE OF %s ON %[1]s FOR EACH ROW EXECUTE FUNCTION %[1]s_moves()",
				g.table, g.columns))
	}
	out = append(out, "CREATE OR REPLACE FUNCTION catalog_stamp() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN UPDATE catalog SET stamp = stamp + 1; RETURN NULL; END$$")
	for _, table := range catalogTables {
		out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_stamp ON %[1]s", table),
			fmt.Sprintf("CREATE TRIGGER %s_stamp AFTER INSERT OR UPDATE OR DELETE ON %[1]s FOR EACH STATEMENT EXECUTE FUNCTION catalog_stamp()", table))
	}
	for _, c := range countTriggers() {
		do, each := c.do, "FOR EACH ROW WHEN ("+c.when+")"
		if c.doAll != "" {
			do, each = c.doAll, "REFERENCING "+map[string]string{"INSERT": "NEW", "DELETE": "OLD"}[c.event]+" TABLE AS changed FOR EACH STATEMENT"
		}
		out = append(out,
			fmt.Sprintf("CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN %s; RETURN NULL; END$$", c.name, do),
			fmt.Sprintf("DROP TRIGGER IF EXISTS %s ON %s", c.name, c.table),
			fmt.Sprintf("CREATE TRIGGER %s AFTER %s ON %s %s EXECUTE FUNCTION %[1]s()", c.name, c.event, c.table, each))
	}
	out = append(out, fmt.Sprintf("CREATE OR REPLACE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION '%v of a row of %%', TG_TABLE_NAME; END$$", ErrIllegal))
	for _, table := range appended {
		out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_append ON %[1]s", table),
			fmt.Sprintf("CREATE TRIGGER %s_append BEFORE UPDATE OR DELETE ON %[1]s FOR EACH ROW EXECUTE FUNCTION append_only()", table))
	}
	return out
}
