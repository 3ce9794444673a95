-- +goose Up

-- Kinds tell memory, disk and bandwidth to two digits now. Those of what waits are worked
-- out again when the server starts.
UPDATE result SET kind = 0 WHERE server_state = 2 AND kind <> 0;
