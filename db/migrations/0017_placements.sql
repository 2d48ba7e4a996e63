-- +goose Up
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
