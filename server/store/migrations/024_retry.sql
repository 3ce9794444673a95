-- +goose Up

-- How often a workunit that was given up was revived, and its newest result then: what
-- those up to it failed with does not count any more.
ALTER TABLE workunit ADD COLUMN retries INTEGER NOT NULL DEFAULT 0 CHECK (retries >= 0);
ALTER TABLE workunit ADD COLUMN retried_resultid INTEGER NOT NULL DEFAULT 0;
