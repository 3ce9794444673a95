-- +goose Up

-- The workunits of a batch that have no outcome yet, so that the transitioner sees at once
-- whether few are left.
CREATE INDEX workunit_batch_unfinished ON workunit (batch) WHERE batch <> 0 AND canonical_resultid = 0 AND error_mask = 0;
