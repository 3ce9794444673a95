-- +goose Up

-- Until when the workunits of a batch that are not made yet count against its token's quota.
ALTER TABLE api_batch ADD COLUMN promised_until INTEGER NOT NULL DEFAULT 0;
