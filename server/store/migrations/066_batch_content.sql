-- +goose Up

-- A hash of what was submitted, so that another submission under the same name is refused. It is '' for
-- batches without workunits, and for those of earlier versions.
ALTER TABLE api_batch ADD COLUMN content TEXT NOT NULL DEFAULT '';
