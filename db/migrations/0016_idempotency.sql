-- +goose Up
-- Requests that were sent with an Idempotency-Key, for 24 hours.
CREATE TABLE idempotency (
    account_id BIGINT NOT NULL,                   -- 0: sent without a credential
    name       TEXT NOT NULL,                     -- SHA-256 of method, path and key
    hash       TEXT NOT NULL,                     -- stands for the input
    node       TEXT NOT NULL,                     -- who works on it while status is 0
    status     INTEGER NOT NULL,                  -- 0: in progress
    body       {{bytes}},
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, name)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

-- +goose Down
DROP TABLE idempotency;
