-- +goose Up

-- Visits of volunteers to their account's page. What a browser holds is not here, only
-- its hash.
CREATE TABLE web_session (
    hash    TEXT    NOT NULL PRIMARY KEY,
    userid  INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX web_session_userid ON web_session (userid);
CREATE INDEX web_session_expires ON web_session (expires);
