-- +goose Up

-- Files that were made on hosts and that these were ordered to upload, so that other hosts can
-- compute what needs them.
CREATE TABLE made_copy (
    name        TEXT    NOT NULL CHECK (name <> ''),
    host_id     INTEGER NOT NULL,
    create_time INTEGER NOT NULL,
    PRIMARY KEY (name, host_id)
) STRICT;
