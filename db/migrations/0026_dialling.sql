-- +goose Up
-- What the dialler looks at every second follows the leads that are due and the calls that go on, not those that ever were.
DROP INDEX leads_open;
CREATE INDEX leads_open ON leads (campaign_id, status)
    WHERE parent_id IS NULL AND status IN ('created', 'scheduled', 'rescheduled', 'processing');
DROP INDEX leads_phone;
CREATE INDEX leads_phone ON leads (phone_number, campaign_id);
CREATE INDEX calls_campaign_live ON calls (campaign_id) WHERE status IN ('initiated', 'ringing', 'in-progress');

-- The outbound calls of the last day, for the ceilings: deleting a call's record does not make room for another.
CREATE TABLE placements (
    id         {{id}},
    account_id BIGINT  NOT NULL,
    carrier    BOOLEAN NOT NULL, -- through a carrier of the installation, not a trunk of the account
    at         BIGINT  NOT NULL,
    at_real    BIGINT  NOT NULL
);
CREATE INDEX placements_day ON placements (account_id, at) WHERE carrier;
CREATE INDEX placements_minute ON placements (account_id, at_real);

-- +goose Down
DROP TABLE placements;
DROP INDEX calls_campaign_live;
DROP INDEX leads_phone;
CREATE INDEX leads_phone ON leads (campaign_id, phone_number);
DROP INDEX leads_open;
CREATE INDEX leads_open ON leads (campaign_id) WHERE status IN ('created', 'scheduled', 'rescheduled', 'processing');
