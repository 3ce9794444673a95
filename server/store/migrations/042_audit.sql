-- +goose Up

-- What operators did to the project. Rows are added only: triggers refuse to change or
-- delete one, see moves.go.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    actor       TEXT    NOT NULL CHECK (actor <> ''),  -- user of the operating system, or account
    via         TEXT    NOT NULL CHECK (via <> ''),    -- command, or what else it went by
    action      TEXT    NOT NULL CHECK (action <> ''), -- such as work cancel
    detail      TEXT    NOT NULL,                      -- to what, and how
    error       TEXT    NOT NULL                       -- '': it was done
) STRICT;
