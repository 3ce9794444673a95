-- +goose Up

-- When an account was banned, 0: it is not, and why, for its owner to read.
ALTER TABLE "user" ADD COLUMN banned_time INTEGER NOT NULL DEFAULT 0 CHECK (banned_time >= 0);
ALTER TABLE "user" ADD COLUMN ban_reason TEXT NOT NULL DEFAULT '';

-- When an account was deleted: nothing of its owner is left, and what was granted to it counts.
ALTER TABLE "user" ADD COLUMN deleted_time INTEGER NOT NULL DEFAULT 0 CHECK (deleted_time >= 0);

-- The version of its client, when the computer last asked: "8.2.4"; '' not known yet.
ALTER TABLE host ADD COLUMN client_version TEXT NOT NULL DEFAULT '';
