-- +goose Up

-- What is open is little beside what is finished, and lists of it begin with the newest. The sums keep
-- PostgreSQL from using these indexes for anything else.
CREATE INDEX workunit_open ON workunit (id) WHERE canonical_resultid + error_mask = 0;
CREATE INDEX result_open ON result (id) WHERE server_state + 0 < 5;
