-- +goose Up
-- A customer may write to a sender that has no assistant: the conversation is kept, and nobody answers.
{{postgres}}ALTER TABLE conversations ALTER COLUMN assistant_id DROP NOT NULL;
{{postgres}}ALTER TABLE conversations ALTER COLUMN speaker_id DROP NOT NULL;
{{sqlite}}CREATE TABLE conversations_new (
{{sqlite}}    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
{{sqlite}}    account_id          BIGINT  NOT NULL REFERENCES accounts(id),
{{sqlite}}    uuid                TEXT    NOT NULL UNIQUE,
{{sqlite}}    assistant_id        BIGINT REFERENCES assistants(id),
{{sqlite}}    speaker_id          BIGINT REFERENCES assistants(id),
{{sqlite}}    switches            INTEGER NOT NULL DEFAULT 0,
{{sqlite}}    type                TEXT    NOT NULL CHECK (type IN ('widget', 'test', 'whatsapp', 'api')),
{{sqlite}}    state               TEXT    NOT NULL CHECK (state IN ('open', 'ended')),
{{sqlite}}    end_reason          TEXT,
{{sqlite}}    ai_enabled          BOOLEAN NOT NULL DEFAULT TRUE,
{{sqlite}}    variables           TEXT,
{{sqlite}}    external_identifier TEXT,
{{sqlite}}    sender_id           BIGINT,
{{sqlite}}    sender_phone        TEXT    NOT NULL DEFAULT '',
{{sqlite}}    sender_name         TEXT    NOT NULL DEFAULT '',
{{sqlite}}    customer_phone      TEXT    NOT NULL DEFAULT '',
{{sqlite}}    customer_name       TEXT    NOT NULL DEFAULT '',
{{sqlite}}    message_count       INTEGER NOT NULL DEFAULT 0,
{{sqlite}}    total_cost          BIGINT  NOT NULL DEFAULT 0,
{{sqlite}}    evaluation          TEXT,
{{sqlite}}    created_at          BIGINT  NOT NULL,
{{sqlite}}    updated_at          BIGINT  NOT NULL,
{{sqlite}}    last_message_at     BIGINT  NOT NULL,
{{sqlite}}    ended_at            BIGINT
{{sqlite}});
{{sqlite}}CREATE TABLE entries_new (
{{sqlite}}    id              INTEGER PRIMARY KEY AUTOINCREMENT,
{{sqlite}}    conversation_id BIGINT NOT NULL REFERENCES conversations_new(id) ON DELETE CASCADE,
{{sqlite}}    role            TEXT   NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
{{sqlite}}    content         TEXT   NOT NULL,
{{sqlite}}    uses            TEXT,
{{sqlite}}    trace           TEXT,
{{sqlite}}    attachments     TEXT,
{{sqlite}}    waits_until     BIGINT,
{{sqlite}}    created_at      BIGINT NOT NULL
{{sqlite}});
{{sqlite}}INSERT INTO conversations_new SELECT * FROM conversations;
{{sqlite}}INSERT INTO entries_new SELECT * FROM conversation_entries;
{{sqlite}}UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'conversations') WHERE name = 'conversations_new';
{{sqlite}}UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'conversation_entries') WHERE name = 'entries_new';
{{sqlite}}DROP TABLE conversation_entries;
{{sqlite}}DROP TABLE conversations;
{{sqlite}}ALTER TABLE conversations_new RENAME TO conversations;
{{sqlite}}ALTER TABLE entries_new RENAME TO conversation_entries;
{{sqlite}}CREATE INDEX conversations_account ON conversations (account_id, updated_at, id);
{{sqlite}}CREATE UNIQUE INDEX conversations_external ON conversations (assistant_id, external_identifier) WHERE type = 'api';
{{sqlite}}CREATE INDEX conversations_sender ON conversations (sender_id, customer_phone) WHERE sender_id IS NOT NULL;
{{sqlite}}CREATE INDEX conversation_entries_conversation ON conversation_entries (conversation_id, id);
{{sqlite}}CREATE INDEX conversation_entries_waiting ON conversation_entries (conversation_id, id) WHERE waits_until IS NOT NULL;

ALTER TABLE wa_messages ADD COLUMN platform_id TEXT NOT NULL DEFAULT ''; -- of the customer, where the number is hidden
ALTER TABLE wa_messages ADD COLUMN draft TEXT NOT NULL DEFAULT '{}';     -- what is stored once the platform has accepted it
CREATE INDEX wa_contacts_conversation ON wa_contacts (conversation_id);
UPDATE wa_senders SET carrier = 'simulator' WHERE carrier = 'sim';
CREATE INDEX wa_senders_carrier ON wa_senders (carrier, carrier_ref);

-- +goose Down
DROP INDEX wa_senders_carrier;
DROP INDEX wa_contacts_conversation;
ALTER TABLE wa_messages DROP COLUMN draft;
ALTER TABLE wa_messages DROP COLUMN platform_id;
