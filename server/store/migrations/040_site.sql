-- +goose Up

-- Volunteers who compute together. What its members earn while they are in it counts for it.
CREATE TABLE team (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time  INTEGER NOT NULL,
    userid       INTEGER NOT NULL, -- who founded it, or leads it now
    name         TEXT    NOT NULL CHECK (name <> ''),
    name_key     TEXT    NOT NULL UNIQUE, -- the name in lower case
    url          TEXT    NOT NULL DEFAULT '',
    description  TEXT    NOT NULL DEFAULT '',
    total_credit REAL    NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX user_teamid ON "user" (teamid) WHERE teamid <> 0;

-- Whether others may not see which computers are an account's, and whether what it earned is
-- not told to sites of statistics.
ALTER TABLE "user" ADD COLUMN hide_hosts INTEGER NOT NULL DEFAULT 0 CHECK (hide_hosts IN (0, 1));
ALTER TABLE "user" ADD COLUMN no_export INTEGER NOT NULL DEFAULT 0 CHECK (no_export IN (0, 1));

-- When the owner of its e-mail address confirmed it; 0: not yet, or it was not asked for.
ALTER TABLE "user" ADD COLUMN confirmed_time INTEGER NOT NULL DEFAULT 0 CHECK (confirmed_time >= 0);

-- What its owner calls a computer, '' its own name, and whether it is left out of lists.
ALTER TABLE host ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE host ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1));

-- What sites of statistics have to forget: accounts and computers that were deleted, by the
-- identifiers under which they know them.
CREATE TABLE forgotten (
    kind        INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 account, 2 computer
    id          INTEGER NOT NULL,
    cpid        TEXT    NOT NULL,
    create_time INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT;

-- What a computer has done, the newest first, for its page.
CREATE INDEX result_over_hostid ON result (hostid, id) WHERE server_state = 5;
