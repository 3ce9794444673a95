-- +goose Up

-- Further limits of a token, 0 for none, and its part of the computing time.
ALTER TABLE token ADD COLUMN max_bytes INTEGER NOT NULL DEFAULT 0 CHECK (max_bytes >= 0);
ALTER TABLE token ADD COLUMN max_cpu_time INTEGER NOT NULL DEFAULT 0 CHECK (max_cpu_time >= 0); -- seconds in 30 days
ALTER TABLE token ADD COLUMN weight REAL NOT NULL DEFAULT 1 CHECK (weight > 0);

-- The token with which a workunit was submitted, 0 for none, and the workunit's rank among all that
-- were submitted with it. Both are part of the kind of its results, which is set anew.
ALTER TABLE workunit ADD COLUMN tokenid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workunit ADD COLUMN own_priority INTEGER NOT NULL DEFAULT 0;
UPDATE workunit SET tokenid = COALESCE((SELECT b.tokenid FROM api_batch b WHERE b.id = workunit.batch - 1000000000), 0) WHERE batch > 1000000000;
UPDATE result SET kind = 0 WHERE server_state = 2 AND batch > 1000000000;

-- The computing time of a token's results, by the day on which they were reported. A trigger adds
-- to it (see token_use.go).
CREATE TABLE token_use (
    tokenid       INTEGER NOT NULL,
    day           INTEGER NOT NULL, -- since 1970
    cpu_time      REAL    NOT NULL, -- seconds
    elapsed_time  REAL    NOT NULL, -- seconds
    expected_time REAL    NOT NULL, -- seconds, by the estimates of their workunits
    PRIMARY KEY (tokenid, day)
) STRICT;
INSERT INTO token_use (tokenid, day, cpu_time, elapsed_time, expected_time)
SELECT w.tokenid, r.received_time / 86400 AS day, sum(CASE WHEN r.cpu_time > 1000 * r.elapsed_time THEN 1000 * r.elapsed_time ELSE r.cpu_time END),
       sum(r.elapsed_time), sum(CASE WHEN r.flops_estimate > 0 THEN w.rsc_fpops_est / r.flops_estimate ELSE r.elapsed_time END)
FROM   result r JOIN workunit w ON w.id = r.workunitid
WHERE  r.batch > 1000000000 AND w.tokenid <> 0 AND r.file_delete_state <> 0 AND r.cpu_time > 0
GROUP  BY 1, 2;

-- What the project stores for a token: input files by name, and the output of a batch as a whole, with
-- the batch and no name. A trigger keeps the sums.
CREATE TABLE token_file (
    tokenid INTEGER NOT NULL,
    batch   INTEGER NOT NULL, -- api_batch.id, 0 for an input file
    name    TEXT    NOT NULL,
    nbytes  INTEGER NOT NULL,
    PRIMARY KEY (tokenid, batch, name)
) STRICT;
CREATE INDEX token_file_name ON token_file (name) WHERE batch = 0;
CREATE TABLE token_bytes (
    tokenid INTEGER NOT NULL PRIMARY KEY,
    total   INTEGER NOT NULL
) STRICT;
