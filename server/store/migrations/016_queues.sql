-- +goose Up

-- The queues are read by id. With the application before it, the index was of no
-- use for that, and looking at an empty queue read the whole table.
DROP INDEX workunit_need_validate;
DROP INDEX workunit_assimilate;
CREATE INDEX workunit_need_validate ON workunit (id) WHERE need_validate = 1;
CREATE INDEX workunit_assimilate ON workunit (id) WHERE assimilate_state = 1;
