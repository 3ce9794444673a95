-- +goose Up

-- The electrical energy of a result in watt-hours, if its host shares it, or 0.
ALTER TABLE result ADD COLUMN energy_wh REAL NOT NULL DEFAULT 0 CHECK (energy_wh >= 0);

-- Sums over the valid results of an application with a known energy, purged ones included. The validator
-- adds to them when it grants the credit.
CREATE TABLE credited_energy (
    appid     INTEGER NOT NULL PRIMARY KEY,
    results   INTEGER NOT NULL,
    energy_wh REAL    NOT NULL,
    credit    REAL    NOT NULL
) STRICT;
