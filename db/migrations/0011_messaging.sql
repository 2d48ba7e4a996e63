-- +goose Up
CREATE TABLE wa_senders (
    id              {{id}},
    account_id      BIGINT NOT NULL REFERENCES accounts (id),
    phone_number    TEXT NOT NULL UNIQUE,
    display_name    TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('online', 'offline', 'connecting', 'pending', 'suspended', 'failed')),
    quality_rating  TEXT NOT NULL CHECK (quality_rating IN ('GREEN', 'YELLOW', 'RED')),
    messaging_limit BIGINT,
    limit_known     BOOLEAN NOT NULL,
    assistant_id    BIGINT,
    ai_enabled      BOOLEAN NOT NULL DEFAULT TRUE,
    response_delay  BIGINT,
    receipts_url    TEXT NOT NULL DEFAULT '',
    carrier         TEXT NOT NULL,
    carrier_ref     TEXT NOT NULL,
    credentials     TEXT NOT NULL DEFAULT '',
    synced_at       BIGINT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX wa_senders_account ON wa_senders (account_id, id);
CREATE INDEX wa_senders_carrier ON wa_senders (carrier, carrier_ref);
CREATE INDEX wa_senders_assistant ON wa_senders (assistant_id) WHERE assistant_id IS NOT NULL;

CREATE TABLE wa_templates (
    id                   {{id}},
    account_id           BIGINT NOT NULL REFERENCES accounts (id),
    sender_id            BIGINT NOT NULL REFERENCES wa_senders (id) ON DELETE CASCADE,
    name                 TEXT NOT NULL,
    language             TEXT NOT NULL,
    category             TEXT NOT NULL CHECK (category IN ('marketing', 'utility', 'authentication')),
    status               TEXT NOT NULL CHECK (status IN ('approved', 'pending', 'rejected', 'paused', 'disabled', 'draft')),
    body_text            TEXT NOT NULL,
    variables            TEXT NOT NULL,
    examples             TEXT NOT NULL DEFAULT '[]',
    carrier_ref          TEXT NOT NULL,
    asks_call_permission BOOLEAN NOT NULL DEFAULT FALSE,
    rejected_reason      TEXT,
    synced_at            BIGINT,
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL
);
CREATE INDEX wa_templates_sender ON wa_templates (sender_id, id);

-- A customer as one sender knows them; the number may be unknown to us.
CREATE TABLE wa_contacts (
    id             {{id}},
    sender_id      BIGINT NOT NULL REFERENCES wa_senders (id) ON DELETE CASCADE,
    phone_number   TEXT,
    platform_id    TEXT,
    name            TEXT,
    conversation_id BIGINT,
    window_ends_at  BIGINT,
    customer_at     BIGINT,
    created_at      BIGINT NOT NULL,
    UNIQUE (sender_id, phone_number),
    UNIQUE (sender_id, platform_id)
);
CREATE INDEX wa_contacts_conversation ON wa_contacts (conversation_id);

CREATE TABLE wa_messages (
    id              {{id}},
    account_id      BIGINT NOT NULL REFERENCES accounts (id),
    sender_id       BIGINT NOT NULL REFERENCES wa_senders (id) ON DELETE CASCADE,
    conversation_id BIGINT,
    entry_id        BIGINT,
    phone_number    TEXT NOT NULL,
    platform_id     TEXT NOT NULL DEFAULT '', -- of the customer, where the number is hidden
    outbound        BOOLEAN NOT NULL,
    initiated       BOOLEAN NOT NULL,
    kind            TEXT NOT NULL,
    text            TEXT NOT NULL,
    ref             TEXT NOT NULL UNIQUE,
    sid             TEXT,
    status          TEXT NOT NULL, -- sending, until the platform has answered; then the steps of a delivery; received for inbound
    price           BIGINT NOT NULL,
    draft           TEXT NOT NULL DEFAULT '{}', -- JSON: what is stored once the platform has accepted it
    error_code      TEXT,
    error_message   TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE UNIQUE INDEX wa_messages_sid ON wa_messages (sender_id, sid) WHERE sid IS NOT NULL;
CREATE INDEX wa_messages_recipients ON wa_messages (sender_id, created_at) WHERE initiated;
CREATE INDEX wa_messages_conversation ON wa_messages (conversation_id, id);

CREATE TABLE sms (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id),
    from_number  TEXT NOT NULL,
    to_number    TEXT NOT NULL,
    body         TEXT NOT NULL,
    segments     INTEGER NOT NULL,
    price        BIGINT NOT NULL,
    ref          TEXT NOT NULL UNIQUE,
    sid          TEXT,
    status       TEXT NOT NULL,
    created_at   BIGINT NOT NULL
);
CREATE INDEX sms_account ON sms (account_id, id);

-- The last five accepted sends of an account, real time in microseconds.
CREATE TABLE send_rates (
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    kind       TEXT NOT NULL,
    t1 BIGINT NOT NULL, t2 BIGINT NOT NULL, t3 BIGINT NOT NULL, t4 BIGINT NOT NULL, t5 BIGINT NOT NULL,
    PRIMARY KEY (account_id, kind)
);

-- +goose Down
DROP TABLE send_rates;
DROP TABLE sms;
DROP TABLE wa_messages;
DROP TABLE wa_contacts;
DROP TABLE wa_templates;
DROP TABLE wa_senders;
