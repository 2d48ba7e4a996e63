-- +goose Up
-- What one process asks another that holds calls. Times are the clock on the wall.
CREATE TABLE asks (
    id      {{id}},
    kind    TEXT   NOT NULL,
    body    TEXT   NOT NULL, -- JSON
    node    TEXT,            -- whom it is for, then who took it; NULL = whoever holds calls
    taken   BOOLEAN NOT NULL DEFAULT FALSE,
    answer  TEXT,            -- JSON; NULL = not answered yet
    at_real BIGINT NOT NULL
);
CREATE INDEX asks_open ON asks (id) WHERE NOT taken;

-- +goose Down
DROP TABLE asks;
