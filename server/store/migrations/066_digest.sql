-- +goose Up

-- What the jobs of a batch compute, as a checksum, by which a repeated request is known from
-- another one of the same name; '': unknown.
ALTER TABLE api_batch ADD COLUMN digest TEXT NOT NULL DEFAULT '';
