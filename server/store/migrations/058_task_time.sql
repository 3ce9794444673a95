-- +goose Up

-- How long a result should take on the host that gets it, in seconds; 0: it does not matter.
ALTER TABLE app ADD COLUMN task_time INTEGER NOT NULL DEFAULT 0 CHECK (task_time >= 0);
