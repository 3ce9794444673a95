-- +goose Up

-- Where a batch's sender is told when it is done, when that is looked at next (0: never again),
-- and how often it was told in vain.
ALTER TABLE api_batch ADD COLUMN webhook TEXT NOT NULL DEFAULT '';
ALTER TABLE api_batch ADD COLUMN webhook_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_batch ADD COLUMN webhook_tries INTEGER NOT NULL DEFAULT 0;
CREATE INDEX api_batch_webhook ON api_batch (webhook_time) WHERE webhook_time > 0;
