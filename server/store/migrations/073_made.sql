-- +goose Up

-- How many workunits and results there are. Triggers keep these counts (see tally.go). What waits is the rest
-- after all others are counted, so that nobody reads the rows of a long queue to count them.
CREATE TABLE made_workunit (
    appid INTEGER NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (appid)
) STRICT;
CREATE TABLE made_result (
    appid INTEGER NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (appid)
) STRICT;
INSERT INTO made_workunit SELECT appid, count(*) FROM workunit GROUP BY appid;
INSERT INTO made_result SELECT appid, count(*) FROM result GROUP BY appid;
DROP INDEX workunit_unfinished;
