-- +goose Up

-- Operators who are signed in to their pages, and the links that were used for it. What a browser
-- or a link holds is not here, only its hash.
CREATE TABLE operator_session (
    hash    TEXT    NOT NULL PRIMARY KEY,
    actor   TEXT    NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

CREATE TABLE operator_link (
    hash    TEXT    NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT;
