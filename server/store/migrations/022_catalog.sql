-- +goose Up

-- What servers keep in memory of platforms, applications and versions is read anew when
-- this number has changed. Triggers advance it: see moves.go.
CREATE TABLE catalog (
    stamp INTEGER NOT NULL
) STRICT;
INSERT INTO catalog (stamp) VALUES (1);
