-- +goose Up

-- Why the host could not carry an order out when it last spoke of the file: an error number
-- of BOINC's, below 0; 0: it said nothing of the kind.
ALTER TABLE file_order ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
