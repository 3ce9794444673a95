-- +goose Up

-- When a batch is given up and its output is deleted; 0: never.
ALTER TABLE api_batch ADD COLUMN expire_time INTEGER NOT NULL DEFAULT 0;
CREATE INDEX api_batch_expire ON api_batch (expire_time) WHERE expire_time > 0 AND retired_time = 0;
