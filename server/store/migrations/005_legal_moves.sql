-- +goose Up

-- The triggers that refuse illegal moves, as they were made last: see moves.go.
CREATE TABLE legal_moves (
    sql TEXT NOT NULL
) STRICT;
