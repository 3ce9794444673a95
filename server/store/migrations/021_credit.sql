-- +goose Up

-- How valid results of an application are rewarded: '' or flops, fixed:N, runtime.
ALTER TABLE app ADD COLUMN credit TEXT NOT NULL DEFAULT '';

-- What each valid result of the workunit is worth, whatever the application says; 0: as
-- the application says.
ALTER TABLE workunit ADD COLUMN credit REAL NOT NULL DEFAULT 0 CHECK (credit >= 0);
