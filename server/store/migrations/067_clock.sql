-- +goose Up

-- When a daemon last ran, and which deadlines it extends: those from extended_from on are extended to
-- extended_until.
CREATE TABLE clock (
    daemon         TEXT PRIMARY KEY,
    seen_time      INTEGER NOT NULL,
    extended_from  INTEGER NOT NULL,
    extended_until INTEGER NOT NULL
);
