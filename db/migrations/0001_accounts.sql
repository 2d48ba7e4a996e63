-- +goose Up
CREATE TABLE accounts (
    id             {{id}},
    name           TEXT NOT NULL,
    email          TEXT NOT NULL,                 -- need not be unique: it identifies nobody by itself
    kind           TEXT NOT NULL CHECK (kind IN ('direct', 'tenant')),
    timezone       TEXT NOT NULL,
    plan           TEXT NOT NULL,                 -- JSON: the limits that differ from plan.default
    payment_method TEXT NOT NULL,
    password       TEXT,                          -- argon2id, NULL: no sign-in by password
    suspended_at   BIGINT,
    is_first       BOOLEAN NOT NULL DEFAULT FALSE,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL
);
CREATE UNIQUE INDEX accounts_first ON accounts (is_first) WHERE is_first;
CREATE INDEX accounts_email ON accounts (email);

CREATE TABLE api_keys (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    secret       {{bytes}} NOT NULL,              -- SHA-256 of the secret
    last_used_at BIGINT,
    created_at   BIGINT NOT NULL
);
CREATE INDEX api_keys_account ON api_keys (account_id, id);

-- One-time links into the console.
CREATE TABLE welcome_links (
    token      {{bytes}} PRIMARY KEY,             -- SHA-256
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);

CREATE TABLE sessions (
    token      {{bytes}} PRIMARY KEY,             -- SHA-256
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_account ON sessions (account_id);

-- +goose Down
DROP TABLE sessions;
DROP TABLE welcome_links;
DROP TABLE api_keys;
DROP TABLE accounts;
