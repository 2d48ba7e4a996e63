-- +goose Up
CREATE TABLE webhook_deliveries (
    id              {{id}},
    account_id      BIGINT  NOT NULL REFERENCES accounts(id) ON DELETE CASCADE,
    webhook_id      TEXT    NOT NULL,
    event           TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    host            TEXT    NOT NULL,
    stream          TEXT    NOT NULL,           -- what must arrive in order
    patience        INTEGER NOT NULL,           -- failed tries after which the next of the stream goes ahead; 0 = when settled
    secret_scope    TEXT    NOT NULL,
    body            TEXT    NOT NULL,
    call_id         BIGINT,
    conversation_id BIGINT,
    request_id      TEXT    NOT NULL DEFAULT '',
    is_test         BOOLEAN NOT NULL DEFAULT FALSE,
    is_replay       BOOLEAN NOT NULL DEFAULT FALSE,
    status          TEXT    NOT NULL,           -- pending, trying (a test under way), succeeded, failed
    tried           INTEGER NOT NULL DEFAULT 0,
    failures        INTEGER NOT NULL DEFAULT 0, -- since it was queued, or queued again
    next_at         BIGINT,
    result          TEXT,                       -- JSON, the receiver's last settled answer
    created_at      BIGINT  NOT NULL
);
CREATE INDEX webhook_deliveries_account ON webhook_deliveries (account_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (host, next_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_stream ON webhook_deliveries (stream, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_call ON webhook_deliveries (call_id, id) WHERE call_id IS NOT NULL;

CREATE TABLE webhook_attempts (
    delivery_id BIGINT  NOT NULL REFERENCES webhook_deliveries(id) ON DELETE CASCADE,
    n           INTEGER NOT NULL,
    at          BIGINT  NOT NULL,
    status_code INTEGER NOT NULL, -- 0 = no answer
    duration_ms BIGINT  NOT NULL,
    error       TEXT    NOT NULL,
    response    TEXT    NOT NULL,
    PRIMARY KEY (delivery_id, n)
);

CREATE TABLE webhook_secrets (
    scope          TEXT PRIMARY KEY, -- account:1, sender:2
    current        TEXT NOT NULL,    -- sealed
    previous       TEXT,
    previous_until BIGINT
);

-- +goose Down
DROP TABLE webhook_secrets;
DROP TABLE webhook_attempts;
DROP TABLE webhook_deliveries;
