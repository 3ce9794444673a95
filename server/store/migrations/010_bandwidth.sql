-- +goose Up

-- Bytes a second at which a host must be able to download; 0: any.
ALTER TABLE workunit ADD COLUMN rsc_bandwidth_bound REAL NOT NULL DEFAULT 0 CHECK (rsc_bandwidth_bound >= 0);
