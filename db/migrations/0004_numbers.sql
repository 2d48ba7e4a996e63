-- +goose Up
-- Every number an account has or is about to have: dedicated ones, trunks (their details in sip_trunks) and Caller IDs.
CREATE TABLE phone_numbers (
    id            {{id}},
    account_id    BIGINT  NOT NULL REFERENCES accounts (id),
    number        TEXT    NOT NULL,            -- E.164, or the extension of a trunk
    country_code  TEXT    NOT NULL,
    type          TEXT    NOT NULL CHECK (type IN ('normal', 'sip', 'caller_id')),
    state         TEXT    NOT NULL CHECK (state IN ('buying', 'undoing', 'failed', 'pending', 'active', 'scheduled')),
    sms_capable   BOOLEAN NOT NULL DEFAULT FALSE,
    nickname      TEXT,
    region        TEXT,
    -- A dedicated number's purchase and subscription.
    price         BIGINT  NOT NULL DEFAULT 0,  -- per month, 1e-8 of the currency
    price_id      TEXT    NOT NULL DEFAULT '',
    purchase_key  TEXT    UNIQUE,              -- names the order and the subscription at carrier and payment platform
    step          TEXT    CHECK (step IN ('subscribe', 'order', 'done')),
    failure       TEXT,
    carrier_ref   TEXT,
    subscription  TEXT,
    months        INTEGER NOT NULL DEFAULT 0,  -- paid so far
    paid_until    BIGINT,
    past_due_at   BIGINT,                      -- first refused renewal
    refusals      INTEGER NOT NULL DEFAULT 0,  -- since then
    release_at    BIGINT,
    -- A Caller ID until it is verified.
    code          TEXT,                        -- HMAC of the code
    code_until    BIGINT,
    code_tries    INTEGER NOT NULL DEFAULT 0,
    codes_sent    INTEGER NOT NULL DEFAULT 0,
    created_at    BIGINT  NOT NULL,
    updated_at    BIGINT  NOT NULL
);
CREATE UNIQUE INDEX phone_numbers_owned ON phone_numbers (number)
    WHERE type = 'normal' AND state IN ('buying', 'undoing', 'active', 'scheduled');
CREATE UNIQUE INDEX phone_numbers_caller_id ON phone_numbers (account_id, number) WHERE type = 'caller_id';
CREATE INDEX phone_numbers_account ON phone_numbers (account_id, id);
CREATE INDEX phone_numbers_number ON phone_numbers (number);

-- A trunk is the number of type sip with the same id.
CREATE TABLE sip_trunks (
    id             BIGINT  PRIMARY KEY REFERENCES phone_numbers (id) ON DELETE CASCADE,
    account_id     BIGINT  NOT NULL REFERENCES accounts (id),
    number         TEXT    NOT NULL,
    digits         TEXT    NOT NULL,           -- of an E.164 number, as a far end may call it without the plus
    national       TEXT    NOT NULL,           -- its national significant number; '' for an extension
    form           TEXT    NOT NULL CHECK (form IN ('extension', 'number')),
    username       TEXT    NOT NULL,
    password       TEXT    NOT NULL,           -- sealed
    address        TEXT    NOT NULL,
    calling_format TEXT    NOT NULL,
    authorization_type TEXT NOT NULL,
    allowed_ips    TEXT    NOT NULL,           -- JSON
    outbound_proxy BOOLEAN NOT NULL,
    transport      TEXT    NOT NULL,
    port           INTEGER NOT NULL,
    codecs         TEXT    NOT NULL,           -- JSON
    inbound_ref    TEXT    NOT NULL,
    outbound_ref   TEXT    NOT NULL,
    registration   TEXT    NOT NULL DEFAULT 'none',
    updated_at     BIGINT  NOT NULL,
    UNIQUE (number, username, address)
);
CREATE INDEX sip_trunks_account ON sip_trunks (account_id, id);
CREATE INDEX sip_trunks_digits ON sip_trunks (digits);
CREATE INDEX sip_trunks_national ON sip_trunks (national);

-- One row: the process that keeps the trunks registered, and how often they changed.
CREATE TABLE sip_registrar (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    node    TEXT    NOT NULL,
    until   BIGINT  NOT NULL,                  -- real time
    changes BIGINT  NOT NULL
);
INSERT INTO sip_registrar (id, node, until, changes) VALUES (1, '', 0, 0);

-- +goose Down
DROP TABLE sip_registrar;
DROP TABLE sip_trunks;
DROP TABLE phone_numbers;
