-- +goose Up

-- When the files of a workunit were deleted; the purger counts from there.
ALTER TABLE workunit ADD COLUMN mod_time INTEGER NOT NULL DEFAULT 0;

UPDATE workunit
SET    mod_time = (SELECT max(t.at) FROM (
           SELECT workunit.create_time AS at
           UNION ALL SELECT r.received_time FROM result r WHERE r.workunitid = workunit.id
           UNION ALL SELECT r.report_deadline FROM result r WHERE r.workunitid = workunit.id) t)
WHERE  file_delete_state = 2;

CREATE INDEX workunit_purge ON workunit (mod_time, id) WHERE file_delete_state = 2;

-- What the file deleter could not delete, to be tried again.
CREATE INDEX workunit_delete_error ON workunit (id) WHERE file_delete_state = 3;
CREATE INDEX result_delete_error ON result (id) WHERE file_delete_state = 3;

-- Credit of results that are no longer in the database: total_credit is the sum
-- of this and of what the user's results were granted.
ALTER TABLE "user" ADD COLUMN purged_credit REAL NOT NULL DEFAULT 0;
