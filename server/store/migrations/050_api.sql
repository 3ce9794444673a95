-- +goose Up

-- Programs that may submit work over HTTP. Of what proves it there is only a hash.
CREATE TABLE token (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time  INTEGER NOT NULL,
    name         TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    hash         TEXT    NOT NULL UNIQUE,
    apps         TEXT    NOT NULL DEFAULT '', -- names of applications, with spaces between them; '' all
    quota        INTEGER NOT NULL DEFAULT 0 CHECK (quota >= 0), -- unfinished workunits; 0 no limit
    used_time    INTEGER NOT NULL DEFAULT 0,
    revoked_time INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Batches that were submitted with a token, each under a name that its sender chose, so that a
-- request that is repeated makes nothing twice.
CREATE TABLE api_batch (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    tokenid     INTEGER NOT NULL,
    name        TEXT    NOT NULL CHECK (name <> ''),
    appid       INTEGER NOT NULL,
    expected    INTEGER NOT NULL, -- workunits
    made        INTEGER NOT NULL DEFAULT 0 CHECK (made IN (0, 1)), -- all of them; they may be purged since
    UNIQUE (tokenid, name)
) STRICT;
