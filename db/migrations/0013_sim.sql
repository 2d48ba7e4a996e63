-- +goose Up
-- The pretend world of the simulator. Only package sim reads these tables.
CREATE TABLE sim_faults (
    account_id BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    value      TEXT NOT NULL,
    remaining  BIGINT NOT NULL,
    PRIMARY KEY (account_id, kind)
);
CREATE TABLE sim_senders (
    ref             TEXT PRIMARY KEY,
    account_id      BIGINT NOT NULL,
    phone_number    TEXT NOT NULL,
    display_name    TEXT NOT NULL,
    status          TEXT NOT NULL,
    quality_rating  TEXT NOT NULL,
    messaging_limit BIGINT,
    limit_known     BOOLEAN NOT NULL
);
CREATE TABLE sim_templates (
    ref                  TEXT PRIMARY KEY,
    sender_ref           TEXT NOT NULL,
    name                 TEXT NOT NULL,
    language             TEXT NOT NULL,
    category             TEXT NOT NULL,
    status               TEXT NOT NULL,
    body_text            TEXT NOT NULL,
    variables            TEXT NOT NULL,
    asks_call_permission BOOLEAN NOT NULL,
    rejected_reason      TEXT
);
CREATE INDEX sim_templates_sender ON sim_templates (sender_ref);
CREATE TABLE sim_messages (
    id           {{id}},
    account_id   BIGINT NOT NULL,
    sender_id    BIGINT NOT NULL,
    phone_number TEXT NOT NULL,
    sid          TEXT NOT NULL,
    direction    TEXT NOT NULL,
    text         TEXT NOT NULL,
    template     TEXT NOT NULL,
    status       TEXT NOT NULL,
    at           BIGINT NOT NULL
);
CREATE INDEX sim_messages_phone ON sim_messages (account_id, phone_number, id);
CREATE INDEX sim_messages_sid ON sim_messages (sid);
CREATE TABLE sim_sms (
    id           {{id}},
    phone_number TEXT NOT NULL,
    from_number  TEXT NOT NULL,
    body         TEXT NOT NULL,
    sid          TEXT NOT NULL,
    at           BIGINT NOT NULL
);
CREATE INDEX sim_sms_phone ON sim_sms (phone_number, id);
CREATE TABLE sim_inventory (
    phone_number TEXT PRIMARY KEY,
    country_code TEXT NOT NULL,
    region       TEXT NOT NULL,
    price        BIGINT NOT NULL,
    price_id     TEXT NOT NULL,
    address      TEXT NOT NULL,
    sms          BOOLEAN NOT NULL,
    order_key    TEXT
);
CREATE INDEX sim_inventory_country ON sim_inventory (country_code, phone_number);
CREATE TABLE sim_subscriptions (
    key_         TEXT PRIMARY KEY,
    ref          TEXT NOT NULL,
    account_id   BIGINT NOT NULL,
    phone_number TEXT NOT NULL,
    price        BIGINT NOT NULL,
    status       TEXT NOT NULL,
    months       BIGINT NOT NULL,
    period_end   BIGINT NOT NULL
);
CREATE TABLE sim_charges (
    id         {{id}},
    ref        TEXT NOT NULL UNIQUE,
    account_id BIGINT NOT NULL,
    amount     BIGINT NOT NULL,
    status     TEXT NOT NULL,
    at         BIGINT NOT NULL
);
CREATE TABLE sim_phones (
    phone_number TEXT PRIMARY KEY,
    account_id   BIGINT NOT NULL,
    behaviour    TEXT NOT NULL,
    ring_ms      BIGINT NOT NULL,
    script       TEXT NOT NULL,
    greeting     TEXT NOT NULL
);
CREATE TABLE sim_calls (
    id          {{id}},
    direction   TEXT NOT NULL,
    from_number TEXT NOT NULL,
    to_number   TEXT NOT NULL,
    state       TEXT NOT NULL,
    call_id     BIGINT,
    script      TEXT NOT NULL,
    steps       TEXT NOT NULL,
    heard       TEXT NOT NULL,
    audio       TEXT NOT NULL,
    at          BIGINT NOT NULL
);

-- +goose Down
DROP TABLE sim_calls;
DROP TABLE sim_charges;
DROP TABLE sim_subscriptions;
DROP TABLE sim_inventory;
DROP TABLE sim_phones;
DROP TABLE sim_sms;
DROP TABLE sim_messages;
DROP TABLE sim_templates;
DROP TABLE sim_senders;
DROP TABLE sim_faults;
