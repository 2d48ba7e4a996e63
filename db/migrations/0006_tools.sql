-- +goose Up
CREATE TABLE tools (
    id            {{id}},
    account_id    BIGINT  NOT NULL REFERENCES accounts(id),
    name          TEXT    NOT NULL,
    description   TEXT    NOT NULL,
    endpoint      TEXT    NOT NULL,
    method        TEXT    NOT NULL,
    body_format   TEXT    NOT NULL,
    timeout       INTEGER NOT NULL, -- seconds
    headers       TEXT    NOT NULL, -- JSON, sealed
    static_fields TEXT    NOT NULL, -- JSON, sealed
    params        TEXT    NOT NULL, -- JSON
    created_at    BIGINT  NOT NULL,
    updated_at    BIGINT  NOT NULL,
    UNIQUE (account_id, name)
);

-- +goose Down
DROP TABLE tools;
