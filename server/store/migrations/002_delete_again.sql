-- +goose Up

-- Files that could not be deleted, which the file deleter tries again.
CREATE INDEX workunit_delete_error ON workunit (id) WHERE file_delete_state = 3;
CREATE INDEX result_delete_error ON result (id) WHERE file_delete_state = 3;
