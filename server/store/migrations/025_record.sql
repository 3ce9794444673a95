-- +goose Up

-- The share of a computer's recent results of an app version that were no good, of which
-- each newer one counts for more: see hostversion.
ALTER TABLE host_app_version ADD COLUMN error_rate REAL NOT NULL DEFAULT 0 CHECK (error_rate BETWEEN 0 AND 1);

-- How many of a computer's results of an app version were valid, and how many seconds after
-- they were sent they came back, on average.
ALTER TABLE host_app_version ADD COLUMN turnaround_n INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host_app_version ADD COLUMN turnaround_avg REAL NOT NULL DEFAULT 0;

-- Whether one more failure gives the workunit up. Its results go to no computer whose
-- results keep failing.
ALTER TABLE workunit ADD COLUMN last_chance INTEGER NOT NULL DEFAULT 0 CHECK (last_chance IN (0, 1));

-- Whom the results of a workunit are for: 0 anybody, 1 the computer and 2 the computers of
-- the account with this id.
ALTER TABLE workunit ADD COLUMN target_type INTEGER NOT NULL DEFAULT 0 CHECK (target_type BETWEEN 0 AND 2);
ALTER TABLE workunit ADD COLUMN target_id INTEGER NOT NULL DEFAULT 0;
