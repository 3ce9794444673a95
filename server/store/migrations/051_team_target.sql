-- +goose Up

-- Results may also be for the members of the team (3) with this id.
ALTER TABLE workunit RENAME COLUMN target_type TO former_target_type;
ALTER TABLE workunit ADD COLUMN target_type INTEGER NOT NULL DEFAULT 0 CHECK (target_type BETWEEN 0 AND 3);
UPDATE workunit SET target_type = former_target_type WHERE former_target_type <> 0;
ALTER TABLE workunit DROP COLUMN former_target_type;
