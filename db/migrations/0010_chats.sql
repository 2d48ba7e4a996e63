-- +goose Up
CREATE TABLE conversations (
    id                  {{id}},
    account_id          BIGINT  NOT NULL REFERENCES accounts(id),
    uuid                TEXT    NOT NULL UNIQUE,
    assistant_id        BIGINT REFERENCES assistants(id), -- NULL: over a sender that has none; nobody answers
    speaker_id          BIGINT REFERENCES assistants(id), -- who answers: the assistant, or the one it handed over to
    switches            INTEGER NOT NULL DEFAULT 0,
    type                TEXT    NOT NULL CHECK (type IN ('widget', 'test', 'whatsapp', 'api')),
    state               TEXT    NOT NULL CHECK (state IN ('open', 'ended')),
    end_reason          TEXT,
    ai_enabled          BOOLEAN NOT NULL DEFAULT TRUE,
    variables           TEXT,             -- JSON object, NULL when none were given
    external_identifier TEXT,
    sender_id           BIGINT,
    sender_phone        TEXT    NOT NULL DEFAULT '',
    sender_name         TEXT    NOT NULL DEFAULT '',
    customer_phone      TEXT    NOT NULL DEFAULT '',
    customer_name       TEXT    NOT NULL DEFAULT '',
    message_count       INTEGER NOT NULL DEFAULT 0,
    total_cost          BIGINT  NOT NULL DEFAULT 0,
    evaluation          TEXT,             -- JSON object of the last ending
    created_at          BIGINT  NOT NULL,
    updated_at          BIGINT  NOT NULL, -- last activity
    last_message_at     BIGINT  NOT NULL,
    ended_at            BIGINT
);
CREATE INDEX conversations_account ON conversations (account_id, updated_at, id);
CREATE UNIQUE INDEX conversations_external ON conversations (assistant_id, external_identifier) WHERE type = 'api';
CREATE INDEX conversations_sender ON conversations (sender_id, customer_phone) WHERE sender_id IS NOT NULL;

CREATE TABLE conversation_entries (
    id              {{id}},
    conversation_id BIGINT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    role            TEXT   NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    content         TEXT   NOT NULL,
    uses            TEXT,            -- JSON: functions used for it
    trace           TEXT,            -- JSON: what the model said and saw for it
    attachments     TEXT,            -- JSON
    waits_until     BIGINT,          -- real time: a request waits for its answer until then
    created_at      BIGINT NOT NULL
);
CREATE INDEX conversation_entries_conversation ON conversation_entries (conversation_id, id);
CREATE INDEX conversation_entries_waiting ON conversation_entries (conversation_id, id) WHERE waits_until IS NOT NULL;

-- +goose Down
DROP TABLE conversation_entries;
DROP TABLE conversations;
