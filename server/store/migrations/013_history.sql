-- +goose Up

-- The story of a row: a line for each move, with time, who made it and why. It is
-- written by the statement that makes the move, so it costs no other.
ALTER TABLE workunit ADD COLUMN history TEXT NOT NULL DEFAULT '';
ALTER TABLE result ADD COLUMN history TEXT NOT NULL DEFAULT '';
