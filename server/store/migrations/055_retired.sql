-- +goose Up

-- When a batch's sender had its output deleted; 0: it is kept.
ALTER TABLE api_batch ADD COLUMN retired_time INTEGER NOT NULL DEFAULT 0;
