-- +goose Up

-- The outputs of other workunits that a workunit waits for. output is its logical name and name that of
-- the input file which it becomes. Both are '' if the workunit only comes after the other. ready is 1
-- once the predecessor has an outcome.
CREATE TABLE awaited_output (
    workunitid  INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    predecessor INTEGER NOT NULL,
    output      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    ready       INTEGER NOT NULL DEFAULT 0 CHECK (ready IN (0, 1)),
    PRIMARY KEY (workunitid, predecessor, output)
) STRICT, WITHOUT ROWID;

CREATE INDEX awaited_output_predecessor ON awaited_output (predecessor);
CREATE INDEX awaited_output_ready ON awaited_output (workunitid, predecessor, output) WHERE ready = 1;
