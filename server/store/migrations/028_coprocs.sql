-- +goose Up

-- The coprocessors (GPUs) of a computer when it last asked: a list in JSON; '' is none.
ALTER TABLE host ADD COLUMN coprocs TEXT NOT NULL DEFAULT '';
