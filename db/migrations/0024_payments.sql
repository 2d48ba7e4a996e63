-- +goose Up
-- What the payment platform calls an account. No card number is ever in this database.
CREATE TABLE payment_customers (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    vendor     TEXT NOT NULL,
    ref        TEXT NOT NULL,
    PRIMARY KEY (account_id, vendor)
);

-- One row per page that a customer was sent to, and per charge of a method on file. Amounts are currency in units of 1e-8,
-- credited is in the account's unit.
CREATE TABLE payments (
    id         {{id}},
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    vendor     TEXT NOT NULL,
    key_       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('setup', 'topup', 'auto', 'month')),
    state      TEXT NOT NULL CHECK (state IN ('open', 'paid', 'refused', 'expired')),
    amount     BIGINT NOT NULL,
    session    TEXT,
    ref        TEXT,
    return_url TEXT NOT NULL,
    tries      BIGINT NOT NULL,                 -- refusals of this charge so far
    credited   BIGINT NOT NULL,
    returned   BIGINT NOT NULL,                 -- of amount, by refunds
    until      BIGINT,                          -- of a month
    created_at BIGINT NOT NULL,
    UNIQUE (vendor, session)
);
CREATE INDEX payments_ref ON payments (vendor, ref);
CREATE UNIQUE INDEX payments_auto ON payments (account_id) WHERE kind = 'auto' AND state = 'open';
CREATE INDEX payments_time ON payments (account_id, kind, created_at);

CREATE TABLE auto_topups (
    account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    enabled    BOOLEAN NOT NULL,
    below      BIGINT NOT NULL,                 -- in the account's unit
    amount     BIGINT NOT NULL,                 -- in currency
    last_error TEXT
);
CREATE INDEX auto_topups_on ON auto_topups (account_id) WHERE enabled;

CREATE TABLE sim_pages (
    id         TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL,
    amount     BIGINT NOT NULL,                 -- 0: a method is put on file
    back       TEXT NOT NULL,
    done       BOOLEAN NOT NULL
);

-- +goose Down
DROP TABLE sim_pages;
DROP TABLE auto_topups;
DROP TABLE payments;
DROP TABLE payment_customers;
