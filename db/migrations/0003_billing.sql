-- +goose Up
-- Amounts are in units of 1e-8: of the account's unit (a minute or a credit), money of the installation's currency.
CREATE TABLE balances (
    account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    balance    BIGINT NOT NULL,                        -- the sum of the account's ledger
    held       BIGINT NOT NULL CHECK (held >= 0)       -- the sum of its holds
);

CREATE TABLE holds (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    ref        TEXT NOT NULL,
    amount     BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, ref)
);

-- Append-only. What was booked is only ever undone by another entry.
CREATE TABLE ledger (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    entry        TEXT NOT NULL CHECK (entry IN ('charge', 'refund', 'credit')),
    kind         TEXT NOT NULL,
    ref          TEXT NOT NULL,
    amount       BIGINT NOT NULL,                      -- what it adds to the balance
    money        BIGINT NOT NULL,                      -- what it cost (refunds: negative); 0 for credits
    assistant_id BIGINT,
    note         TEXT,
    created_at   BIGINT NOT NULL,
    UNIQUE (account_id, entry, kind, ref)
);
CREATE INDEX ledger_time ON ledger (account_id, created_at);

-- +goose Down
DROP TABLE ledger;
DROP TABLE holds;
DROP TABLE balances;
