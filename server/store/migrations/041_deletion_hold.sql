-- +goose Up

-- Until when files and rows are not to be deleted, since somebody copies the project:
-- one row for each copy that is being made, which renews it. See hold.go.
CREATE TABLE deletion_hold (
    holder TEXT    NOT NULL PRIMARY KEY CHECK (holder <> ''),
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
