-- +goose Up

-- Which project's database this is: one row, which the project's keys/project_id
-- repeats. A database without a row is older than this table, or new.
CREATE TABLE project (
    identity TEXT NOT NULL CHECK (identity <> '')
) STRICT;
