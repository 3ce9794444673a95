-- +goose Up

-- What can be sent is read by kind: what decides which computers may have a result, as
-- one number. So the head of each kind is found at once, whatever waits before it. A
-- kind of 0 was not worked out yet.
ALTER TABLE result ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
DROP INDEX result_unsent;
CREATE INDEX result_unsent ON result (kind, priority DESC, id) WHERE server_state = 2;
