-- +goose Up
-- Columns ending in _real are the clock on the wall; the others obey the manual clock.
CREATE TABLE calls (
    id               {{id}},
    account_id       BIGINT  NOT NULL REFERENCES accounts (id),
    uuid             TEXT    NOT NULL UNIQUE,
    type             TEXT    NOT NULL CHECK (type IN ('inbound', 'outbound', 'web')),
    status           TEXT    NOT NULL,
    reason           TEXT,                           -- ended_reason
    ended_by         TEXT,
    stop             TEXT,                           -- reason somebody asked for the end with
    assistant_id     BIGINT,
    assistant_name   TEXT    NOT NULL,
    assistant_phone  TEXT,
    client_phone     TEXT,
    client_digits    TEXT,                           -- of client_phone, for the filter
    number_id        BIGINT,
    trunk_id         BIGINT,
    campaign_id      BIGINT,
    campaign_name    TEXT,
    lead_id          BIGINT,
    dial_no          BIGINT,
    signal_id        TEXT,                           -- SIP Call-ID
    request_id       TEXT,                           -- of the request that placed it
    snapshot         TEXT    NOT NULL,               -- JSON: the settings it runs with, as far as they matter afterwards
    input_variables  TEXT    NOT NULL,               -- JSON object, as sent
    variables        TEXT    NOT NULL,               -- JSON object
    evaluation       TEXT    NOT NULL,               -- JSON object
    entries          TEXT    NOT NULL,               -- JSON: the transcript
    answered_by      TEXT    NOT NULL,
    spoke            BOOLEAN NOT NULL DEFAULT FALSE, -- the customer was ever heard
    duration         BIGINT  NOT NULL DEFAULT 0,     -- seconds, once it has ended
    paid             BIGINT  NOT NULL DEFAULT 0,     -- seconds its hold covers; 0 = no limit
    ai_seconds       BIGINT  NOT NULL DEFAULT 0,     -- with an assistant active
    ai_cost          BIGINT  NOT NULL DEFAULT 0,     -- 1e-8 of the currency
    carrier_cost     BIGINT  NOT NULL DEFAULT 0,
    currency         TEXT    NOT NULL,
    recording        TEXT,                           -- key of the file
    settled          BOOLEAN NOT NULL DEFAULT FALSE, -- the work after the call is done
    node             TEXT,                           -- who holds it
    lease_real       BIGINT  NOT NULL DEFAULT 0,     -- until when that is so
    created_real     BIGINT  NOT NULL,
    answered_real    BIGINT,
    ended_real       BIGINT,
    created_at       BIGINT  NOT NULL,
    answered_at      BIGINT,
    ended_at         BIGINT,
    updated_at       BIGINT  NOT NULL,
    UNIQUE (lead_id, dial_no)
);
CREATE INDEX calls_account ON calls (account_id, id, client_digits);
CREATE INDEX calls_assistant ON calls (assistant_id, id);
CREATE INDEX calls_campaign ON calls (campaign_id, id) WHERE campaign_id IS NOT NULL;
CREATE INDEX calls_campaign_live ON calls (campaign_id) WHERE status IN ('initiated', 'ringing', 'in-progress');
CREATE INDEX calls_live ON calls (account_id, type) WHERE status IN ('initiated', 'ringing', 'in-progress');
CREATE INDEX calls_open ON calls (lease_real)
    WHERE status IN ('initiated', 'ringing', 'in-progress', 'ended', 'ended_by_customer', 'ended_by_assistant');
CREATE INDEX calls_stop ON calls (node) WHERE stop IS NOT NULL AND status IN ('initiated', 'ringing', 'in-progress');
CREATE INDEX calls_recording ON calls (created_at) WHERE recording IS NOT NULL;

CREATE TABLE call_events (
    call_id BIGINT  NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    seq     BIGINT  NOT NULL,
    at_real BIGINT  NOT NULL,
    type    TEXT    NOT NULL,
    data    TEXT    NOT NULL,
    PRIMARY KEY (call_id, seq)
);

CREATE TABLE do_not_call (
    id         {{id}},
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    phone      TEXT   NOT NULL,
    reason     TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (account_id, phone)
);

CREATE INDEX calls_signal ON calls (signal_id) WHERE signal_id IS NOT NULL;

-- +goose Down
DROP TABLE do_not_call;
DROP TABLE call_events;
DROP TABLE calls;
