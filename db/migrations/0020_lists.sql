-- +goose Up
-- How often rows were taken out of an account's list: counts that were made before do not hold any more.
CREATE TABLE list_editions (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    list       TEXT   NOT NULL,
    n          BIGINT NOT NULL,
    PRIMARY KEY (account_id, list)
);

-- Every filter of a list finds its page without reading the rest.
CREATE INDEX calls_status ON calls (account_id, status, id) WHERE status IN ('completed', 'busy', 'no-answer', 'failed');
CREATE INDEX calls_type ON calls (account_id, type, id);
CREATE INDEX calls_created ON calls (account_id, created_at, id);
CREATE INDEX leads_status ON leads (account_id, status, campaign_id, id) WHERE parent_id IS NULL;
CREATE INDEX conversations_assistant ON conversations (assistant_id, updated_at, id);
CREATE INDEX conversations_customer ON conversations (account_id, customer_phone, updated_at, id) WHERE customer_phone <> '';
CREATE INDEX leads_created ON leads (account_id, created_at, id) WHERE parent_id IS NULL;
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (account_id, status, id) WHERE status IN ('failed', 'pending');
CREATE INDEX webhook_deliveries_conversation ON webhook_deliveries (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX assistants_listed ON assistants (account_id, id) WHERE deleted_at IS NULL;

-- +goose Down
DROP INDEX assistants_listed;
DROP INDEX webhook_deliveries_conversation;
DROP INDEX webhook_deliveries_status;
DROP INDEX leads_created;
DROP INDEX conversations_customer;
DROP INDEX conversations_assistant;
DROP INDEX leads_status;
DROP INDEX calls_created;
DROP INDEX calls_type;
DROP INDEX calls_status;
DROP TABLE list_editions;
