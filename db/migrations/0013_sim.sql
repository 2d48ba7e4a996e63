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

-- +goose Down
DROP TABLE sim_sms;
DROP TABLE sim_messages;
DROP TABLE sim_templates;
DROP TABLE sim_senders;
DROP TABLE sim_faults;
