-- +goose Up
CREATE TABLE campaigns (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id),
    name         TEXT NOT NULL,
    assistant_id BIGINT REFERENCES assistants (id) ON DELETE SET NULL,
    status       TEXT NOT NULL CHECK (status IN ('draft', 'in-progress', 'stopped', 'completed')),
    stop_reason  TEXT,
    settings     TEXT NOT NULL,
    completes    BOOLEAN NOT NULL, -- complete_when_done of settings
    next_number  BIGINT NOT NULL DEFAULT 0,
    recent       TEXT NOT NULL DEFAULT '[]',
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX campaigns_account ON campaigns (account_id, id);
CREATE INDEX campaigns_running ON campaigns (id) WHERE status = 'in-progress';

CREATE TABLE leads (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id),
    campaign_id  BIGINT NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    parent_id    BIGINT REFERENCES leads (id) ON DELETE CASCADE, -- a secondary contact's lead
    phone_number TEXT NOT NULL,
    variables    TEXT NOT NULL DEFAULT '{}',
    status       TEXT NOT NULL CHECK (status IN ('created', 'scheduled', 'rescheduled', 'processing', 'completed', 'reached-max-retries', 'blacklisted')),
    attempts     INTEGER NOT NULL,
    round        INTEGER NOT NULL,
    dial_no      BIGINT NOT NULL, -- only grows
    due_at       BIGINT,
    last_call_id BIGINT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX leads_account ON leads (account_id, id, phone_number) WHERE parent_id IS NULL;
CREATE INDEX leads_campaign ON leads (campaign_id, id);
CREATE INDEX leads_phone ON leads (phone_number, campaign_id);
CREATE INDEX leads_parent ON leads (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX leads_due ON leads (campaign_id, due_at, id) WHERE status IN ('scheduled', 'rescheduled');
CREATE INDEX leads_open ON leads (campaign_id, status)
    WHERE parent_id IS NULL AND status IN ('created', 'scheduled', 'rescheduled', 'processing');

-- +goose Down
DROP TABLE leads;
DROP TABLE campaigns;
