-- +goose Up

-- What a computer offered when it last asked, so that work which no computer can have is
-- seen without asking them: its platforms, the one it prefers first, with spaces between
-- them ('': it has not asked since there is this column), and the bytes that its
-- volunteer lets a task use.
ALTER TABLE host ADD COLUMN platforms TEXT NOT NULL DEFAULT '';
ALTER TABLE host ADD COLUMN m_usable REAL NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN d_usable REAL NOT NULL DEFAULT 0;
