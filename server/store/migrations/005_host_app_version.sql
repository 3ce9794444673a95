-- +goose Up

-- What each host has earned with each app version.
CREATE TABLE host_app_version (
    host_id           INTEGER NOT NULL,
    app_version_id    INTEGER NOT NULL,
    max_jobs_per_day  INTEGER NOT NULL DEFAULT 0 CHECK (max_jobs_per_day >= 0), -- a CPU; 0: not set yet
    n_jobs_today      INTEGER NOT NULL DEFAULT 0 CHECK (n_jobs_today >= 0),
    consecutive_valid INTEGER NOT NULL DEFAULT 0 CHECK (consecutive_valid >= 0),
    PRIMARY KEY (host_id, app_version_id)
) STRICT, WITHOUT ROWID;
