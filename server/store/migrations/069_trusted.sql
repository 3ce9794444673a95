-- +goose Up

-- Whether results of the account's computers decide about workunits with a suspicious result.
ALTER TABLE "user" ADD COLUMN trusted INTEGER NOT NULL DEFAULT 0 CHECK (trusted IN (0, 1));
CREATE INDEX user_trusted ON "user" (id) WHERE trusted = 1;

-- Whether the validator found a result suspicious. From then on, the workunit's results are sent to
-- computers of trusted accounts only.
ALTER TABLE workunit ADD COLUMN suspicious INTEGER NOT NULL DEFAULT 0 CHECK (suspicious IN (0, 1));

CREATE INDEX workunit_suspicious ON workunit (id) WHERE suspicious = 1 AND canonical_resultid + error_mask = 0;
