-- +goose Up

-- How long valid results of a host take with an app version: elapsed seconds per
-- estimated floating point operation, as et in BOINC's table, and the last run of
-- outliers. See package speed.
ALTER TABLE host_app_version ADD COLUMN et_n INTEGER NOT NULL DEFAULT 0 CHECK (et_n >= 0);
ALTER TABLE host_app_version ADD COLUMN et_avg REAL NOT NULL DEFAULT 0 CHECK (et_avg >= 0);
ALTER TABLE host_app_version ADD COLUMN et_var REAL NOT NULL DEFAULT 0 CHECK (et_var >= 0);
ALTER TABLE host_app_version ADD COLUMN et_odd INTEGER NOT NULL DEFAULT 0; -- below 0: they were quick
ALTER TABLE host_app_version ADD COLUMN et_odd_avg REAL NOT NULL DEFAULT 0 CHECK (et_odd_avg >= 0);

-- Operations a second that the version should do there by the host's benchmark, when a
-- result was last sent; 0: none was since there is this column.
ALTER TABLE host_app_version ADD COLUMN benchmark_flops REAL NOT NULL DEFAULT 0 CHECK (benchmark_flops >= 0);

-- What the host says of the version: how many times as long as by its benchmark
-- results take, in steps of 10 %; 100 is as long, 0 says nothing. What is known of a
-- version are its hosts' votes, counted by the index, so that no row is shared by all
-- who validate.
ALTER TABLE host_app_version ADD COLUMN vote INTEGER NOT NULL DEFAULT 0 CHECK (vote BETWEEN 0 AND 199);

CREATE INDEX host_app_version_vote ON host_app_version (app_version_id, vote) WHERE vote > 0;
