-- +goose Up

-- How many workunits and results there are with which nothing more happens. Triggers keep
-- these counts (see tally.go), so that nobody reads the rows to count them.
CREATE TABLE settled_workunit (
    appid            INTEGER NOT NULL,
    canonical        INTEGER NOT NULL, -- 1: has a canonical result
    given_up         INTEGER NOT NULL, -- 1: has an error mask
    assimilate_state INTEGER NOT NULL,
    total            INTEGER NOT NULL,
    PRIMARY KEY (appid, canonical, given_up, assimilate_state)
) STRICT;
CREATE TABLE settled_result (
    appid          INTEGER NOT NULL,
    app_version_id INTEGER NOT NULL,
    outcome        INTEGER NOT NULL,
    validate_state INTEGER NOT NULL,
    granted        INTEGER NOT NULL, -- 1: has credit
    total          INTEGER NOT NULL,
    PRIMARY KEY (appid, app_version_id, outcome, validate_state, granted)
) STRICT;
INSERT INTO settled_workunit
SELECT appid, CASE WHEN canonical_resultid <> 0 THEN 1 ELSE 0 END AS canonical, CASE WHEN error_mask <> 0 THEN 1 ELSE 0 END AS given_up,
       assimilate_state, count(*)
FROM   workunit WHERE file_delete_state = 2 GROUP BY 1, 2, 3, 4;
INSERT INTO settled_result
SELECT appid, app_version_id, outcome, validate_state, CASE WHEN granted_credit > 0 THEN 1 ELSE 0 END AS granted, count(*)
FROM   result WHERE server_state = 5 AND (file_delete_state = 2 OR outcome IN (2, 5)) GROUP BY 1, 2, 3, 4, 5;

-- The rest is counted by these.
CREATE INDEX workunit_unfinished ON workunit (appid) WHERE file_delete_state <> 2 AND canonical_resultid = 0 AND error_mask = 0;
CREATE INDEX workunit_finished ON workunit (id) WHERE file_delete_state <> 2 AND (canonical_resultid <> 0 OR error_mask <> 0);
CREATE INDEX result_inactive ON result (appid) WHERE server_state = 1;
DROP INDEX result_in_progress;
CREATE INDEX result_in_progress ON result (hostid, appid, app_version_id) WHERE server_state = 4;
CREATE INDEX result_over ON result (id) WHERE server_state = 5 AND file_delete_state <> 2 AND outcome <> 2 AND outcome <> 5;
CREATE INDEX result_valid ON result (received_time) WHERE validate_state = 1;
