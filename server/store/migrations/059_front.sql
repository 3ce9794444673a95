-- +goose Up

-- The processes that answer schedulers' requests, and when they last said so.
CREATE TABLE front (
    name      TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    seen_time INTEGER NOT NULL
) STRICT;
