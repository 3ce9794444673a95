-- +goose Up

-- What handles the trickle-up messages of an application: '' nothing, they are
-- kept; exec:CMD.
ALTER TABLE app ADD COLUMN trickle TEXT NOT NULL DEFAULT '';

-- Trickle-up messages. A client repeats one until it is acknowledged.
CREATE TABLE msg_from_host (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    hostid      INTEGER NOT NULL,
    resultid    INTEGER NOT NULL,
    appid       INTEGER NOT NULL,
    result_name TEXT    NOT NULL,
    sent_time   INTEGER NOT NULL, -- by the host's clock
    variety     TEXT    NOT NULL,
    handled     INTEGER NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)),
    xml         TEXT    NOT NULL,
    UNIQUE (resultid, hostid, sent_time, xml)
) STRICT;

CREATE INDEX msg_from_host_handled ON msg_from_host (id) WHERE handled = 0;

-- Trickle-down messages, to be sent once.
CREATE TABLE msg_to_host (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    hostid      INTEGER NOT NULL,
    resultid    INTEGER NOT NULL,
    result_name TEXT    NOT NULL,
    handled     INTEGER NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)),
    xml         TEXT    NOT NULL
) STRICT;

CREATE INDEX msg_to_host_hostid ON msg_to_host (hostid, id) WHERE handled = 0;
