-- +goose Up

-- Workunits in a chain: one is inactive until its predecessor has an outcome, and
-- is then kept for a while for the hosts that have the files of the predecessor.
ALTER TABLE workunit ADD COLUMN predecessor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workunit ADD COLUMN predecessor_pending INTEGER NOT NULL DEFAULT 0 CHECK (predecessor_pending IN (0, 1));
ALTER TABLE workunit ADD COLUMN has_successor INTEGER NOT NULL DEFAULT 0 CHECK (has_successor IN (0, 1));
ALTER TABLE workunit ADD COLUMN reserved_until INTEGER NOT NULL DEFAULT 0;

CREATE INDEX workunit_predecessor ON workunit (predecessor) WHERE predecessor_pending = 1;

-- For which hosts a workunit is kept, and the result after which it comes there.
CREATE TABLE affinity (
    host_id    INTEGER NOT NULL,
    workunitid INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    resultid   INTEGER NOT NULL,
    PRIMARY KEY (host_id, workunitid)
) STRICT, WITHOUT ROWID;

CREATE INDEX affinity_workunitid ON affinity (workunitid);

-- Sticky files that a host has, as it told; sticky_hash is 0 for none, and changes
-- with them.
ALTER TABLE host ADD COLUMN sticky_hash INTEGER NOT NULL DEFAULT 0;

CREATE TABLE host_file (
    host_id INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    nbytes  REAL    NOT NULL,
    PRIMARY KEY (host_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX host_file_name ON host_file (name);

-- What hosts are to do with files that belong to no result. file_orders counts
-- those of a host that are not done.
ALTER TABLE host ADD COLUMN file_orders INTEGER NOT NULL DEFAULT 0 CHECK (file_orders >= 0);

CREATE TABLE file_order (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    host_id     INTEGER NOT NULL,
    action      TEXT    NOT NULL CHECK (action IN ('put', 'get', 'delete')),
    name        TEXT    NOT NULL,
    xml         TEXT    NOT NULL DEFAULT '', -- its file_info
    done_time   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX file_order_host_id ON file_order (host_id, id) WHERE done_time = 0;
