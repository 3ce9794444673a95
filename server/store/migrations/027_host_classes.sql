-- +goose Up

-- The plan classes of app versions that did not suit the computer when it last asked, with
-- spaces between them, so that work which no computer can have is seen without asking them.
ALTER TABLE host ADD COLUMN unsuited TEXT NOT NULL DEFAULT '';
