-- +goose Up

-- What failed is little beside what succeeded, and is what lists are asked for.
CREATE INDEX result_failed ON result (outcome, id) WHERE outcome > 1;
CREATE INDEX result_not_valid ON result (validate_state, id) WHERE validate_state > 1;
CREATE INDEX workunit_given_up ON workunit (id) WHERE error_mask <> 0;
