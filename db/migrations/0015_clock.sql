-- +goose Up
-- The manual clock: one row, microseconds UTC. Without a row durable time is real time.
CREATE TABLE clock (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    now BIGINT NOT NULL
);

-- +goose Down
DROP TABLE clock;
