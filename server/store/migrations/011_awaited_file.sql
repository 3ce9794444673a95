-- +goose Up

-- 1: input files are not there yet, so results are made inactive.
ALTER TABLE workunit ADD COLUMN awaiting INTEGER NOT NULL DEFAULT 0 CHECK (awaiting IN (0, 1));

-- Which they are. A workunit without any is released.
CREATE TABLE awaited_file (
    workunitid INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    PRIMARY KEY (name, workunitid)
) STRICT, WITHOUT ROWID;

CREATE INDEX awaited_file_workunitid ON awaited_file (workunitid);
