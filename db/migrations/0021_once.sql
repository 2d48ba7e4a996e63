-- +goose Up
-- A claim is held under a lease, and names what is done for it, so that another try finds that.
ALTER TABLE idempotency ADD COLUMN ref TEXT NOT NULL DEFAULT '';         -- of the effect, the same for every try
ALTER TABLE idempotency ADD COLUMN holder TEXT NOT NULL DEFAULT '';      -- the try that works on it
ALTER TABLE idempotency ADD COLUMN lease_real BIGINT NOT NULL DEFAULT 0; -- until when nobody else may
ALTER TABLE idempotency ADD COLUMN begun BOOLEAN NOT NULL DEFAULT FALSE; -- something was recorded under ref
CREATE INDEX idempotency_running ON idempotency (node) WHERE status = 0;
-- A message that was sent with a key, and the entry that answers it.
ALTER TABLE conversation_entries ADD COLUMN ref TEXT;
ALTER TABLE conversation_entries ADD COLUMN answers TEXT;
CREATE UNIQUE INDEX conversation_entries_ref ON conversation_entries (ref) WHERE ref IS NOT NULL;
CREATE UNIQUE INDEX conversation_entries_answers ON conversation_entries (answers) WHERE answers IS NOT NULL;
-- What the simulator's platform accepted, by the name the sending side gave it.
ALTER TABLE sim_messages ADD COLUMN ref TEXT;
ALTER TABLE sim_sms ADD COLUMN ref TEXT;
CREATE INDEX sim_messages_ref ON sim_messages (ref) WHERE ref IS NOT NULL;
CREATE INDEX sim_sms_ref ON sim_sms (ref) WHERE ref IS NOT NULL;
CREATE INDEX documents_blob ON documents (blob) WHERE blob IS NOT NULL;

-- +goose Down
DROP INDEX documents_blob;
DROP INDEX sim_sms_ref;
DROP INDEX sim_messages_ref;
ALTER TABLE sim_sms DROP COLUMN ref;
ALTER TABLE sim_messages DROP COLUMN ref;
DROP INDEX conversation_entries_answers;
DROP INDEX conversation_entries_ref;
ALTER TABLE conversation_entries DROP COLUMN answers;
ALTER TABLE conversation_entries DROP COLUMN ref;
DROP INDEX idempotency_running;
ALTER TABLE idempotency DROP COLUMN begun;
ALTER TABLE idempotency DROP COLUMN lease_real;
ALTER TABLE idempotency DROP COLUMN holder;
ALTER TABLE idempotency DROP COLUMN ref;
