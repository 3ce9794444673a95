-- +goose Up

-- The workunits or messages of an application that a daemon could not handle and tries again, with the
-- last error. Of several equal daemons each has its row.
CREATE TABLE trouble (
    daemon     TEXT    NOT NULL,
    appid      INTEGER NOT NULL,
    waiting    INTEGER NOT NULL,
    error      TEXT    NOT NULL,
    retry_time INTEGER NOT NULL,
    PRIMARY KEY (daemon, appid)
) STRICT;
