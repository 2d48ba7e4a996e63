-- +goose Up
ALTER TABLE sip_trunks ADD COLUMN line TEXT NOT NULL DEFAULT '{"dtmf":"auto","media_source":"signalled","media_networks":[]}'; -- JSON
ALTER TABLE sip_trunks ADD COLUMN registration_error TEXT; -- of the last try
ALTER TABLE sip_trunks ADD COLUMN asked BIGINT NOT NULL DEFAULT 0; -- how often somebody asked for a registration at once
ALTER TABLE sip_trunks ADD COLUMN answered BIGINT NOT NULL DEFAULT 0; -- the last of them that was carried out

-- +goose Down
ALTER TABLE sip_trunks DROP COLUMN answered;
ALTER TABLE sip_trunks DROP COLUMN asked;
ALTER TABLE sip_trunks DROP COLUMN registration_error;
ALTER TABLE sip_trunks DROP COLUMN line;
