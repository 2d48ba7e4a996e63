-- +goose Up
-- What the dialler looks at every second follows the leads that are due and the calls that go on, not those that ever were.
DROP INDEX leads_open;
CREATE INDEX leads_open ON leads (campaign_id)
    WHERE parent_id IS NULL AND status IN ('created', 'scheduled', 'rescheduled', 'processing');
DROP INDEX leads_phone;
CREATE INDEX leads_phone ON leads (phone_number, campaign_id);
CREATE INDEX calls_campaign_live ON calls (campaign_id) WHERE status IN ('initiated', 'ringing', 'in-progress');
CREATE INDEX calls_placed ON calls (account_id, created_at) WHERE type = 'outbound' AND trunk_id IS NULL;
CREATE INDEX calls_rate ON calls (account_id, created_real) WHERE type = 'outbound';

-- +goose Down
DROP INDEX calls_rate;
DROP INDEX calls_placed;
DROP INDEX calls_campaign_live;
DROP INDEX leads_phone;
CREATE INDEX leads_phone ON leads (campaign_id, phone_number);
DROP INDEX leads_open;
CREATE INDEX leads_open ON leads (campaign_id) WHERE status IN ('created', 'scheduled', 'rescheduled', 'processing');
